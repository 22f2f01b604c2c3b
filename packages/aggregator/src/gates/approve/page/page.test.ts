import { gateOutcome, parseExact } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ExactValue, readExact } from "./read-exact.ts";
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
