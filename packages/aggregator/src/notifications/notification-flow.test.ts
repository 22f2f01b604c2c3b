import fc from "fast-check";
import { expect, test } from "vitest";
import { defaultFlowLimits, type FlowLimits, NotificationFlow } from "./notification-flow.ts";

interface Run {
  flow: NotificationFlow<number>;
  went: { one: number; at: number }[];
}

/** Each is said so many ms after the one before; between, what waited is taken when it may go. */
function run(limits: FlowLimits, gapsMs: readonly number[], bytes: number): Run {
  const flow = new NotificationFlow<number>(limits);
  const went: Run["went"] = [];
  let now = 0;
  const takeUntil = (until: number) => {
    for (let waitMs = flow.waitMs(now); waitMs !== undefined && now + waitMs <= until; ) {
      now += waitMs;
      const one = flow.take(now);
      if (one !== undefined) went.push({ one, at: now });
      waitMs = flow.waitMs(now);
    }
  };
  gapsMs.forEach((gapMs, one) => {
    const at = now + gapMs;
    takeUntil(at);
    now = at;
    if (flow.offer(one, bytes, now)) went.push({ one, at: now });
    expect(flow.sent).toBe(flow.delivered + flow.dropped + flow.waiting);
  });
  takeUntil(Number.POSITIVE_INFINITY);
  return { flow, went };
}

const limits = fc.record({
  ratePerSecond: fc.integer({ min: 1, max: 10 }),
  waitingMax: fc.integer({ min: 0, max: 20 }),
  waitingBytesMax: fc.integer({ min: 0, max: 200 }),
  bytesMax: fc.integer({ min: 0, max: 40 }),
});
const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1_500 })), { maxLength: 200 });

test("[AX-12-1] [AX-12-2] [AX-12-6] whatever is said when: nothing is lost uncounted, nothing overtakes, no second has too many", () => {
  fc.assert(
    fc.property(limits, gaps, fc.integer({ min: 0, max: 30 }), (limit, gapsMs, bytes) => {
      const { flow, went } = run(limit, gapsMs, bytes);
      expect(flow.waiting).toBe(0);
      expect(flow.sent).toBe(gapsMs.length);
      expect(flow.delivered).toBe(went.length);
      expect(flow.delivered + flow.dropped).toBe(flow.sent);
      for (let i = 1; i < went.length; i += 1)
        expect(went[i]?.one).toBeGreaterThan(went[i - 1]?.one as number);
      for (const [i, { at }] of went.entries()) {
        const before = went[i - limit.ratePerSecond];
        if (before !== undefined) expect(at - before.at).toBeGreaterThanOrEqual(1_000);
      }
    }),
  );
});

test("[AX-12-2] what is said slowly enough goes at once", () => {
  const { flow, went } = run(defaultFlowLimits, Array(500).fill(10), 10);
  expect(flow.dropped).toBe(0);
  expect(went.map(({ at }) => at)).toEqual(went.map((_, i) => (i + 1) * 10));
});

test("[AX-12-6] of 10 000 at once a hundred go, the newest thousand wait, the oldest others are dropped", () => {
  const { flow, went } = run(defaultFlowLimits, Array(10_000).fill(0), 10);
  expect(flow.dropped).toBe(8_900);
  const newest = Array.from({ length: 1_000 }, (_, i) => 9_000 + i);
  expect(went.map(({ one }) => one)).toEqual([...Array(100).keys(), ...newest]);
  expect(went.at(-1)?.at).toBe(10_000);
});

test("few large ones wait instead of many small ones", () => {
  const { flow, went } = run(
    { ...defaultFlowLimits, ratePerSecond: 1, waitingBytesMax: 100 },
    Array(10).fill(0),
    40,
  );
  expect(went.map(({ one }) => one)).toEqual([0, 8, 9]);
  expect(flow.dropped).toBe(7);
});

test("a flow that is idle may be thrown away: a second after the last one, with nothing waiting", () => {
  const flow = new NotificationFlow<number>({ ...defaultFlowLimits, ratePerSecond: 2 });
  expect(flow.isIdle(0)).toBe(true);
  for (const now of [0, 400, 800]) flow.offer(now, 1, now);
  expect(flow.isIdle(5_000)).toBe(false);
  expect(flow.take(1_000)).toBe(800);
  expect(flow.isIdle(1_999)).toBe(false);
  expect(flow.isIdle(2_000)).toBe(true);
});
