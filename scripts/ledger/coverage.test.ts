import { expect, test } from "vitest";
import { ledgerCoverage } from "./coverage.ts";

const path = "packages/room/src/room.test.ts";
const rows = [
  { id: "X0-1-1", level: "M", text: "first", part: "gateway" },
  { id: "X0-1-2", level: "S", text: "second", part: "gateway" },
  { id: "AX-B-1", level: "M", text: "third", part: "cluster" },
  { id: "X0-1-3", level: "N", text: "decided against", part: "gateway" },
];
const tables = { rows, later: { cluster: "comes second" }, folders: ["gateway"] };

function coverage(text: string, at = path) {
  return ledgerCoverage({ ...tables, files: [{ path: at, text }] });
}

function isCovered(text: string, at?: string): boolean {
  return !coverage(text, at).missing.includes("X0-1-1");
}

/** What is wrong with the tables, apart from their tests. */
function faultsOf(changes: Partial<typeof tables> & { later?: Record<string, string> }): string[] {
  return ledgerCoverage({ ...tables, ...changes, files: [] }).faults;
}

test("without tests every row is missing but those of parts named as later, and level N owes nothing", () => {
  const expected = { total: 3, covered: 0, missing: ["X0-1-1", "X0-1-2"], later: ["AX-B-1"], faults: [] };
  expect(ledgerCoverage({ ...tables, files: [] })).toEqual(expected);
});

test("one title may name several rows, and a row counts once however often it is named", () => {
  const text = `test("[X0-1-1] [X0-1-2] does both", () => {});\nit('[X0-1-1] again', () => {});`;
  expect(coverage(text)).toEqual({ total: 3, covered: 2, missing: [], later: ["AX-B-1"], faults: [] });
});

test("a part called later which has a folder or a test is built but hidden", () => {
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ folders: ["gateway", "cluster"] })).toEqual([
    expect.stringContaining('the part "cluster" is built but hidden: there is a folder "cluster"'),
  ]);
  expect(coverage(`test("[AX-B-1] a", () => {});`).faults).toEqual([
    expect.stringContaining(`the part "cluster" is built but hidden: ${path} names [AX-B-1]`),
  ]);
});

test("a part must be a folder or called later, and a part called later must have a row and a reason", () => {
  expect(faultsOf({ folders: [] })).toHaveLength(3);
  expect(faultsOf({ folders: [] })[0]).toMatch(/^X0-1-1 has the part "gateway", which is neither a folder/);
  expect(faultsOf({ later: { cluster: "second", clutser: "second" } })).toEqual([
    'no row has the part "clutser" of spec/later.json',
  ]);
  expect(faultsOf({ later: { cluster: " " } })).toEqual([
    'the part "cluster" of spec/later.json has no reason',
  ]);
});

test("an id has one row", () => {
  expect(faultsOf({ rows: [...rows, ...rows.slice(0, 1)] })).toEqual(["X0-1-1 has two rows in the ledger"]);
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
  const cases = "packages/room/src/topic-log-cases.ts";
  expect(isCovered(`export const cases = [{ title: "[X0-1-1] a", run }];`, cases)).toBe(true);
  expect(isCovered(`export const cases = { "[X0-1-1] a": run };`, cases)).toBe(true);
  expect(isCovered(`// "[X0-1-1] a"`, cases)).toBe(false);
});

test("in a transcript only the first line is the title", () => {
  const transcript = "spec/transcripts/chat.txt";
  expect(isCovered("[X0-1-1] Romeo chats\n\nRomeo connects\n", transcript)).toBe(true);
  expect(isCovered("Romeo chats\n\n[X0-1-1]\n", transcript)).toBe(false);
});

test("names ids the ledger does not have, with their file", () => {
  const { faults } = coverage(`test("[X0-1-9] [X0-1-1, X0-1-2] [A-Z] [x] a", () => {});`);
  expect(faults).toEqual([
    `${path} names [X0-1-9], which is not in the ledger`,
    `${path} names [X0-1-1, X0-1-2], which is not in the ledger`,
  ]);
});
