import { gateOutcome, parseExact } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ExactValue, readExact } from "./read-exact.ts";
import { visibleText } from "./visible-text.ts";
import { timeLeft } from "./words.ts";

/** Back to JSON, to see that nothing was lost. */
function write(value: ExactValue): string {
  switch (value.kind) {
    case "text":
      return JSON.stringify(value.text);
    case "word":
      return value.word;
    case "list":
      return `[${value.items.map(write).join(",")}]`;
    case "object":
      return `{${value.entries.map(([key, item]) => `${JSON.stringify(key)}:${write(item)}`).join(",")}}`;
  }
}

test("[AX-11.3-4] arguments are read to the letter: numbers, order and names are as they are sent", () => {
  const json = '{"n":1.0,"big":9007199254740993,"e":1e400,"__proto__":{"a":[]},"":[true,null,{}],"2":-0}';
  expect(write(readExact(json))).toBe(json);
  expect(JSON.stringify(parseExact(json))).toContain("9007199254740993");
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(JSON.parse(write(readExact(text)))).toEqual(JSON.parse(text));
    }),
  );
});

const shown = (text: string) =>
  visibleText(text)
    .map((part) => (part.isMark ? `<${part.text}>` : part.text))
    .join("");

test.each([
  ["plain text, ünïcödé, 漢字, שלום, 👍", "plain text, ünïcödé, 漢字, שלום, 👍"],
  ["photo\u202egpj.exe", "photo<U+202E>gpj.exe"],
  ["a\u2066b\u2069c\u200f", "a<U+2066>b<U+2069>c<U+200F>"],
  ["zero\u200bwidth\ufeff\u2060\u00ad", "zero<U+200B>width<U+FEFF><U+2060><U+00AD>"],
  ["\u001b[2Jnul\u0000\u0085", "<U+001B>[2Jnul<U+0000><U+0085>"],
  ["a\nb\tc\rd", "a<↵\n>b<⇥\t>c<␍>d"],
  ["no\u00a0break\u2003em\u3000\u2028", "no<U+00A0>break<U+2003>em<U+3000><U+2028>"],
  ["\u{e0041}\u{e0061}\ufe0f\u3164\u2800", "<U+E0041><U+E0061><U+FE0F><U+3164><U+2800>"],
  ["half \ud800 char", "half <U+D800> char"],
  ["private \ue000", "private <U+E000>"],
  ["z\u0301\u0302\u0303\u0304", "z\u0301\u0302<U+0303><U+0304>"],
])("what would hide is named: %j", (text, expected) => {
  expect(shown(text)).toBe(expected);
});

test("nothing that hides is left in any text, and nothing that shows is lost", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const parts = visibleText(text);
      const plain = parts.filter((part) => part.isMark !== true).map((part) => part.text);
      expect(plain.join("")).not.toMatch(/[\p{C}\p{Default_Ignorable_Code_Point}]/u);
      const marks = parts.filter((part) => part.isMark === true).length;
      expect([...plain.join("")].length + marks).toBe([...text].length);
    }),
    { numRuns: 30 },
  );
});

const approvals = [{ by: "anna", at: "2030-01-01T00:00:00.000Z" }];

test("what became of a call says who decided", () => {
  const base = { approvals, approvers: 1 };
  expect(gateOutcome({ ...base, status: "done" }).long).toContain("Approved by anna.");
  expect(gateOutcome({ ...base, status: "indeterminate" }).long).toContain("Nobody knows");
  expect(gateOutcome({ status: "pending", approvals, approvers: 3 }).long).toBe(
    "Waiting for a signature. anna approved it. 2 more of 3 must approve.",
  );
  expect(
    gateOutcome({ status: "rejected", approvals: [], approvers: 1, rejected_by: "ben", reason: "no" }).long,
  ).toBe("Rejected by ben. “no” Nothing has happened.");
  expect(gateOutcome({ status: "expired", approvals: [], approvers: 1 }).long).toContain("Nobody decided");
});

test("time left is minutes and seconds, and never less than none", () => {
  expect([300_000, 59_001, 1, 0, -5].map(timeLeft)).toEqual(["5:00", "1:00", "0:01", "0:00", "0:00"]);
});
