import fc from "fast-check";
import { expect, test } from "vitest";
import { createPace, holdOff, takeTurn } from "./pace.ts";

test("[X0-14.4-2] a burst goes at once, then one at a time", () => {
  const pace = createPace({ perSecond: 2, burst: 3 }, 0);
  expect([0, 0, 0, 0].map((now) => takeTurn(pace, now))).toEqual([0, 0, 0, 500]);
  expect(takeTurn(pace, 250)).toBe(250);
  expect(takeTurn(pace, 500)).toBe(0);
});

test("[X0-14.4-2] nothing goes before the time a platform has named", () => {
  const pace = createPace({ perSecond: 2, burst: 3 }, 0);
  holdOff(pace, 100, 5_000);
  holdOff(pace, 200, 10);
  expect(takeTurn(pace, 300)).toBe(4_800);
  expect(takeTurn(pace, 5_100)).toBe(0);
});

test("[X0-14.4-2] never more than the burst and the rate allow, whatever the times", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(400), { minLength: 1, maxLength: 60 }), (steps) => {
      const pace = createPace({ perSecond: 5, burst: 3 }, 0);
      let now = 0;
      let taken = 0;
      for (const step of steps) {
        now += step;
        if (takeTurn(pace, now) === 0) taken += 1;
      }
      expect(taken).toBeLessThanOrEqual(3 + (now / 1_000) * 5 + 1e-9);
    }),
  );
});
