// How much a participant may send. Kept by participant, so that reconnecting resets nothing. [X0-9-4]
import { type Level, type Limits, McpxError } from "@mcpx/protocol";

/** A token bucket. Pure: the time is given. */
export interface Bucket {
  tokens: number;
  atMs: number;
}

export interface BucketRate {
  perSecond: number;
  burst: number;
}

/** Who waited as long as it was told must not be sent away again by a rounding error. */
const rounding = 1e-9;

/** Takes one token, or says how long until there is one. */
export function take(
  bucket: Bucket,
  rate: BucketRate,
  nowMs: number,
): { ok: true } | { ok: false; retryAfterMs: number } {
  const elapsed = Math.max(0, nowMs - bucket.atMs);
  bucket.tokens = Math.min(rate.burst, bucket.tokens + (elapsed / 1000) * rate.perSecond);
  bucket.atMs = nowMs;
  if (bucket.tokens >= 1 - rounding) {
    bucket.tokens -= 1;
    return { ok: true };
  }
  return { ok: false, retryAfterMs: Math.ceil(((1 - bucket.tokens) / rate.perSecond) * 1000) };
}

interface ParticipantRates {
  envelopes: Bucket;
  proposals: Bucket;
  capabilities: Bucket;
  usedAtMs: number;
}

/** After this long unused every bucket is full again. */
const forgetAfterMs = 120_000;

export class Rates {
  readonly #limits: Limits;
  readonly #byParticipant = new Map<string, ParticipantRates>();

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  chargeEnvelope(participant: string, level: Level, nowMs: number): void {
    const { envelopesPerSecondFull, envelopesPerSecondRestricted, burstFactor } = this.#limits;
    const perSecond = level === "full" ? envelopesPerSecondFull : envelopesPerSecondRestricted;
    const { envelopes } = this.#of(participant, nowMs);
    charge(
      envelopes,
      { perSecond, burst: perSecond * burstFactor },
      nowMs,
      `${perSecond} envelopes a second`,
    );
  }

  chargeProposal(participant: string, nowMs: number): void {
    const { proposalsPerMinute } = this.#limits;
    const { proposals } = this.#of(participant, nowMs);
    const rate = { perSecond: proposalsPerMinute / 60, burst: proposalsPerMinute };
    charge(proposals, rate, nowMs, `${proposalsPerMinute} proposals a minute`);
  }

  /** Requests for capabilities, and notices of their end. [AC-6-3] */
  chargeCapabilityRequest(participant: string, nowMs: number): void {
    const { capabilityRequestsPerMinute } = this.#limits;
    const { capabilities } = this.#of(participant, nowMs);
    const rate = { perSecond: capabilityRequestsPerMinute / 60, burst: capabilityRequestsPerMinute };
    charge(capabilities, rate, nowMs, `${capabilityRequestsPerMinute} requests for capabilities a minute`);
  }

  sweep(nowMs: number): void {
    for (const [participant, { usedAtMs }] of this.#byParticipant) {
      if (nowMs - usedAtMs > forgetAfterMs) this.#byParticipant.delete(participant);
    }
  }

  #of(participant: string, nowMs: number): ParticipantRates {
    const known = this.#byParticipant.get(participant);
    if (known !== undefined) {
      known.usedAtMs = nowMs;
      return known;
    }
    const full = (): Bucket => ({ tokens: Number.POSITIVE_INFINITY, atMs: nowMs });
    const fresh = { envelopes: full(), proposals: full(), capabilities: full(), usedAtMs: nowMs };
    this.#byParticipant.set(participant, fresh);
    return fresh;
  }
}

function charge(bucket: Bucket, rate: BucketRate, nowMs: number, limit: string): void {
  const taken = take(bucket, rate, nowMs);
  if (!taken.ok) {
    throw new McpxError("rate_limited", `the limit is ${limit}`, { retryAfterMs: taken.retryAfterMs });
  }
}
