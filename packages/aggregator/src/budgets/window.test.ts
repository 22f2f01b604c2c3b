import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CallWindow } from "./window.ts";

const pauses = fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 });

describe("[AX-11.4-1] the calls of the last minute", () => {
  test("are counted as one who remembers every call counts them", () => {
    fc.assert(
      fc.property(pauses, fc.integer({ min: 1, max: 8 }), (steps, limit) => {
        const window = new CallWindow();
        window.holdFor(limit);
        const all: number[] = [];
        let now = 0;
        for (const step of steps) {
          now += step;
          const inMinute = all.filter((at) => at > now - 60_000).length;
          expect(window.count(now)).toBe(inMinute);
          if (inMinute < limit) {
            window.add(now);
            all.push(now);
          } else {
            const freeAt = window.freeAt(limit);
            expect(all.filter((at) => at > freeAt - 1 - 60_000).length).toBe(limit);
            expect(all.filter((at) => at > freeAt - 60_000).length).toBeLessThan(limit);
          }
        }
      }),
    );
  });

  test("are never fewer after a store has kept them, and leave at most a second later", () => {
    fc.assert(
      fc.property(pauses, fc.integer({ min: 0, max: 70_000 }), (steps, laterMs) => {
        const window = new CallWindow();
        window.holdFor(1_000);
        let now = 0;
        for (const step of steps) {
          now += step / 40;
          window.add(now);
        }
        const counts = window.counts(now);
        expect(counts.length).toBeLessThanOrEqual(61);
        const kept = new CallWindow(counts);
        const later = now + laterMs;
        expect(kept.count(later)).toBeGreaterThanOrEqual(window.count(later));
        expect(kept.count(later + 1_000)).toBeLessThanOrEqual(window.count(later));
      }),
    );
  });

  test("are held as many as the largest limit needs, however many come", () => {
    const window = new CallWindow();
    window.add(0);
    expect(window.count(0)).toBe(0);
    window.holdFor(3);
    for (let i = 1; i <= 10_000; i += 1) window.add(i);
    expect(window.counts(10_000)).toEqual([[10_000, 3]]);
    window.holdFor(2);
    window.add(10_001);
    expect(window.count(10_001)).toBe(3);
    expect(window.freeAt(2)).toBe(10_000 + 60_000);
  });
});
