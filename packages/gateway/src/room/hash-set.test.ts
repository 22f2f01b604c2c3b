import fc from "fast-check";
import { expect, test } from "vitest";
import { HashSet } from "./hash-set.ts";

// Few different halves, so that many share a place.
const half = fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 2 ** 32 - 1 }));

test("a set of hashes has what was added and nothing else, however it grows", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(half, half), { maxLength: 2_000 }),
      fc.tuple(half, half),
      (added, other) => {
        const set = new HashSet();
        const model = new Set<string>();
        const name = (high: number, low: number) => `${high}.${low || 1}`;
        for (const [high, low] of added) {
          set.add(high, low);
          model.add(name(high, low));
        }
        expect(set.count).toBe(model.size);
        expect(added.every(([high, low]) => set.has(high, low))).toBe(true);
        expect(set.has(...other)).toBe(model.has(name(...other)));
      },
    ),
    { numRuns: 50 },
  );
});
