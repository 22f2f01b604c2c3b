import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader } from "./lines.ts";

function reading(bytesMax: number) {
  const got: string[] = [];
  const read = createLineReader(bytesMax, {
    line: (text) => void got.push(text),
    tooLong: () => void got.push("<too long>"),
    unreadable: () => void got.push("<unreadable>"),
  });
  return { got, read };
}

test("lines are the same however the bytes come", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme" })), fc.array(fc.nat(30)), (texts, cuts) => {
      const lines = texts.map((text) => text.replaceAll("\n", "")).filter((text) => text.trim() !== "");
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
      const { got, read } = reading(10_000);
      let from = 0;
      for (const cut of cuts) {
        read(bytes.subarray(from, from + cut));
        from += cut;
      }
      read(bytes.subarray(from));
      expect(got).toEqual(lines);
    }),
  );
});

test("a line that is too long is told once, and the next one read", () => {
  const { got, read } = reading(5);
  for (const text of ["abc", "def", "ghi\nok", "\n12345\n123456\nend\n"]) read(Buffer.from(text));
  expect(got).toEqual(["<too long>", "ok", "12345", "<too long>", "end"]);
});

test("a line that is no UTF-8 is told", () => {
  const { got, read } = reading(100);
  read(Buffer.from([0xc3, 0x28, 0x0a, 0x61, 0x0a]));
  expect(got).toEqual(["<unreadable>", "a"]);
});
