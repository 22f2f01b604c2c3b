// How often each member of a room may ask the tree: a member that floods it is refused, and everybody else is served.
// Pure: the time is given.

export interface PeerPaces {
  /** How long this peer has to wait; `undefined` where it need not, and one request is counted. */
  retryAfterMs(peer: string, nowMs: number): number | undefined;
}

export interface PaceBounds {
  perSecond: number;
  burst: number;
}

interface Pace {
  left: number;
  atMs: number;
}

/** The one that has asked nothing for the longest is forgotten first. */
const peersMax = 10_000;

export function createPeerPaces({ perSecond, burst }: PaceBounds): PeerPaces {
  const paces = new Map<string, Pace>();
  return {
    retryAfterMs(peer, nowMs) {
      const { left, atMs } = paces.get(peer) ?? { left: burst, atMs: nowMs };
      const now = Math.min(burst, left + (Math.max(0, nowMs - atMs) / 1_000) * perSecond);
      const isAllowed = now >= 1;
      paces.delete(peer);
      paces.set(peer, { left: isAllowed ? now - 1 : now, atMs: nowMs });
      const [oldest] = paces.keys();
      if (paces.size > peersMax && oldest !== undefined) paces.delete(oldest);
      return isAllowed ? undefined : Math.ceil(((1 - now) / perSecond) * 1_000);
    },
  };
}
