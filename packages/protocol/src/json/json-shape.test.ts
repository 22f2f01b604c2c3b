import fc from "fast-check";
import { expect, test } from "vitest";
import { JsonShape } from "./json-shape.ts";

const encoder = new TextEncoder();

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** As the counter does: one for the text, one for each bracket, one for each comma. */
function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const parts = Object.values(value);
  return 1 + Math.max(0, parts.length - 1) + parts.reduce<number>((sum, part) => sum + valuesOf(part), 0);
}

/** In parts that end wherever `cut` says, also in the middle of a character or an escape. */
function take(text: string, bounds: { depthMax: number; valuesMax: number }, cut: number): void {
  const bytes = encoder.encode(text);
  const shape = new JsonShape(bounds);
  for (let i = 0; i < bytes.length; i += cut) shape.take(bytes.subarray(i, i + cut));
}

test("depth and values are those of the value, however the bytes come", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), fc.boolean(), (value, cut, isSpaced) => {
      const text = JSON.stringify(value, null, isSpaced ? 2 : 0);
      const depthMax = depthOf(value);
      const valuesMax = valuesOf(value) + 1;
      take(text, { depthMax, valuesMax }, cut);
      if (depthMax > 0) {
        expect(() => take(text, { depthMax: depthMax - 1, valuesMax }, cut)).toThrow(
          expect.objectContaining({ code: "too_deep" }),
        );
      }
      expect(() => take(text, { depthMax, valuesMax: valuesMax - 1 }, cut)).toThrow(
        expect.objectContaining({ code: "too_many_values" }),
      );
    }),
  );
});

test.each(['"[[[[,,,,"', '"\\"[[[[,,,,"', '{"[[[[":"\\\\"}'])(
  "%s: what stands in a string counts nothing",
  (text) => {
    take(text, { depthMax: 1, valuesMax: 2 }, 1);
  },
);

test("a text that is too much is refused before its end", () => {
  const shape = new JsonShape({ depthMax: 8, valuesMax: 100 });
  shape.take(encoder.encode(`[${"0,".repeat(50)}`));
  expect(() => shape.take(encoder.encode("0,".repeat(100)))).toThrow("Too many values");
});
