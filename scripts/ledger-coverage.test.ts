import { expect, test } from "vitest";
import { ledgerCoverage } from "./ledger-coverage.ts";

const rows = [
  { id: "X0-1-1", level: "M", text: "first", part: "gateway" },
  { id: "X0-1-2", level: "S", text: "second", part: "gateway" },
  { id: "AX-B-1", level: "M", text: "third", part: "devices" },
  { id: "X0-1-3", level: "N", text: "decided against", part: "gateway" },
];

function coverage(text: string, path = "packages/room/src/room.test.ts") {
  return ledgerCoverage(rows, ["gateway"], [{ path, text }]);
}

function isCovered(text: string, path?: string): boolean {
  return !coverage(text, path).missing.includes("X0-1-1");
}

test("without tests, built parts miss their rows, other parts owe them later, and level N owes nothing", () => {
  const expected = { total: 3, covered: 0, missing: ["X0-1-1", "X0-1-2"], later: ["AX-B-1"], unknown: [] };
  expect(ledgerCoverage(rows, ["gateway"], [])).toEqual(expected);
});

test("one title may name several rows, and a row counts once however often it is named", () => {
  const text = `test("[X0-1-1] [AX-B-1] does both", () => {});\nit('[X0-1-1] again', () => {});`;
  expect(coverage(text)).toEqual({ total: 3, covered: 2, missing: ["X0-1-2"], later: [], unknown: [] });
});

test.each([
  `describe("[X0-1-1] a", () => {});`,
  `test.concurrent("[X0-1-1] a", () => {});`,
  "test(`[X0-1-1] a $" + "{name ?? `it's // none`}`, () => {});",
  `test(\n  // why\n  "a [X0-1-1]",\n);`,
  `test.each([["(", f(1)]])("[X0-1-1] %s", () => {});`,
  `test.each<{ f: () => void; g: number }>([a])("[X0-1-1] a", () => {});`,
  "test.each`\n  a | b\n`('[X0-1-1] a', () => {});",
  `describe.skipIf(!has("x"))("[X0-1-1] a", () => {});`,
  `describe(suite, () => { test("[X0-1-1] a", () => {}); });`,
  `const quote = /["'\`]/; test("[X0-1-1] a", () => {});`,
  `const list = names.filter((n) => /\\/[/"]/.test(n)); test("[X0-1-1] a", () => {});`,
  `const half = total / 2; test("[X0-1-1] a / b", () => {});`,
])("counts the title in %s", (text) => {
  expect(isCovered(text)).toBe(true);
});

test.each([
  `// test("[X0-1-1] a")`,
  `/* test("[X0-1-1] a") */`,
  `test("a", () => { expect(x).toBe("[X0-1-1]"); });`,
  `/x/.test("[X0-1-1] a");`,
  `latest("[X0-1-1] a");`,
  `const source = 'test("[X0-1-1] a")';`,
  `test.skip("[X0-1-1] a", () => {});`,
  `test.todo("[X0-1-1] a");`,
  `test("X0-1-1 without brackets", () => {});`,
])("does not count %s", (text) => {
  expect(isCovered(text)).toBe(false);
});

test("in a shared case suite every string that opens with an id is a title", () => {
  const path = "packages/room/src/topic-log-cases.ts";
  expect(isCovered(`export const cases = [{ title: "[X0-1-1] a", run }];`, path)).toBe(true);
  expect(isCovered(`export const cases = { "[X0-1-1] a": run };`, path)).toBe(true);
  expect(isCovered(`// "[X0-1-1] a"`, path)).toBe(false);
});

test("in a transcript only the first line is the title", () => {
  const path = "tests/transcripts/chat.txt";
  expect(isCovered("[X0-1-1] Romeo chats\n\nRomeo connects\n", path)).toBe(true);
  expect(isCovered("Romeo chats\n\n[X0-1-1]\n", path)).toBe(false);
});

test("names ids the ledger does not have, with their file", () => {
  const { unknown } = coverage(`test("[X0-1-9] [X0-1-1, X0-1-2] [A-Z] [x] a", () => {});`);
  const path = "packages/room/src/room.test.ts";
  expect(unknown).toEqual([
    { id: "X0-1-9", path },
    { id: "X0-1-1, X0-1-2", path },
  ]);
});
