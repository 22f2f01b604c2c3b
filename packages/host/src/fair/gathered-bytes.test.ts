import fc from "fast-check";
import { expect, test } from "vitest";
import { GatheredBytes } from "./gathered-bytes.ts";

test("what was added comes out whole and in order, in whatever pieces", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 50 }),
    fc.uint8Array({ minLength: 1_000, maxLength: 6_000 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const gathered = new GatheredBytes();
      for (const one of pieces) gathered.add(Buffer.from(one));
      expect(gathered.length).toBe(pieces.reduce((sum, { length }) => sum + length, 0));
      expect(Buffer.compare(gathered.whole(), Buffer.concat(pieces))).toBe(0);
    }),
  );
});

test("the only piece is not copied", () => {
  const only = Buffer.from("small");
  const gathered = new GatheredBytes();
  gathered.add(only);
  expect(gathered.whole()).toBe(only);
});
