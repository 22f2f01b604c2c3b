// Rate limits of a platform's fixture: a bucket for each method, or each method and channel.

interface Limit {
  perSecond: number;
  burst: number;
  isPerChannel?: boolean;
}

export interface Limits {
  /** 0, or how long to wait. */
  take(method: string, channel: string): number;
}

export function createLimits(limits: Record<string, Limit> = {}): Limits {
  const buckets = new Map<string, { turns: number; at: number }>();
  return {
    take(method, channel) {
      const limit = limits[method];
      if (limit === undefined) return 0;
      const key = limit.isPerChannel ? `${method} ${channel}` : method;
      const now = performance.now();
      const bucket = buckets.get(key) ?? { turns: limit.burst, at: now };
      buckets.set(key, bucket);
      bucket.turns = Math.min(limit.burst, bucket.turns + ((now - bucket.at) / 1_000) * limit.perSecond);
      bucket.at = now;
      if (bucket.turns < 1) return ((1 - bucket.turns) / limit.perSecond) * 1_000;
      bucket.turns -= 1;
      return 0;
    },
  };
}
