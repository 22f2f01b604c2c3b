import { defaultLimits, type Level } from "@mcpx/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Bucket, Rates, take } from "./rates.ts";

const rate = { perSecond: 10, burst: 40 };
const refused = expect.objectContaining({ code: "rate_limited" });

/** How many of `count` attempts at one moment are allowed. */
function allowed(attempt: () => void, count: number): number {
  let passed = 0;
  for (let i = 0; i < count; i += 1) {
    try {
      attempt();
      passed += 1;
    } catch (error) {
      expect(error).toEqual(refused);
    }
  }
  return passed;
}

describe("[X0-9-4] a bucket", () => {
  test("never gives more than its burst and what has flowed in since", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 300 }), (pauses) => {
        const bucket: Bucket = { tokens: rate.burst, atMs: 0 };
        let now = 0;
        let given = 0;
        for (const pause of pauses) {
          now += pause;
          if (take(bucket, rate, now).ok) given += 1;
        }
        expect(given).toBeLessThanOrEqual(rate.burst + (now / 1_000) * rate.perSecond + 0.001);
      }),
    );
  });

  test("has one again after the time it named, and not much before", () => {
    // Thousandths: 0.1 + 0.3 × 3 is less than one to a computer.
    const tokens = fc.integer({ min: 0, max: 999 }).map((thousandths) => thousandths / 1_000);
    fc.assert(
      fc.property(tokens, fc.integer({ min: 1, max: 1_000 }), (left, perSecond) => {
        const steady = { perSecond, burst: perSecond * 4 };
        const bucket: Bucket = { tokens: left, atMs: 0 };
        const refusal = take(bucket, steady, 0);
        if (refusal.ok) return;
        const early = { ...bucket };
        expect(take(early, steady, refusal.retryAfterMs - 2).ok).toBe(false);
        expect(take(bucket, steady, refusal.retryAfterMs)).toEqual({ ok: true });
      }),
      { numRuns: 5_000, examples: [[0.001, 111]] },
    );
  });

  test("fills no further than its burst, and not at all by a clock that goes back", () => {
    const bucket: Bucket = { tokens: 0, atMs: 1_000 };
    expect(take(bucket, rate, 0).ok).toBe(false);
    take(bucket, rate, 3_600_000);
    expect(bucket.tokens).toBe(rate.burst - 1);
  });
});

describe("[X0-9-4] a participant", () => {
  test.each<[Level, number]>([
    ["full", 200],
    ["responder", 40],
    ["restricted", 40],
  ])("of level %s may send %i at once", (level, burst) => {
    const rates = new Rates(defaultLimits);
    expect(allowed(() => rates.chargeEnvelope("alice", level, 0), 250)).toBe(burst);
    expect(allowed(() => rates.chargeEnvelope("bob", level, 0), 250)).toBe(burst);
  });

  test("gains nothing at once by a promotion, but flows faster from then on", () => {
    const rates = new Rates(defaultLimits);
    expect(allowed(() => rates.chargeEnvelope("alice", "restricted", 0), 50)).toBe(40);
    expect(allowed(() => rates.chargeEnvelope("alice", "full", 0), 50)).toBe(0);
    expect(allowed(() => rates.chargeEnvelope("alice", "full", 1_000), 100)).toBe(50);
  });

  test("is told the limit and when to come again", () => {
    const rates = new Rates({ ...defaultLimits, proposalsPerMinute: 3 });
    const propose = (now: number) => rates.chargeProposal("alice", now);
    expect(allowed(() => propose(0), 5)).toBe(3);
    expect(() => propose(0)).toThrow(
      expect.objectContaining({ retryAfterMs: 20_000, detail: "the limit is 3 proposals a minute" }),
    );
    expect(allowed(() => propose(20_000), 5)).toBe(1);
  });

  test("is forgotten only when every bucket would be full anyway", () => {
    const rates = new Rates(defaultLimits);
    const send = (now: number) => allowed(() => rates.chargeEnvelope("alice", "full", now), 300);
    const propose = (now: number) => allowed(() => rates.chargeProposal("alice", now), 100);
    expect([send(0), propose(0)]).toEqual([200, 30]);
    rates.sweep(1_000);
    expect([send(1_000), propose(1_000)]).toEqual([50, 0]);
    rates.sweep(122_000);
    expect([send(122_000), propose(122_000)]).toEqual([200, 30]);
  });
});
