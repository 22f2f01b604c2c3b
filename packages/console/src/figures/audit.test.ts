import { expect, test } from "vitest";
import { type AuditRow, exportText, merge, search } from "./audit.ts";

const row = (seq: number, more: Partial<AuditRow> = {}): AuditRow => ({
  seq,
  at: "",
  action: "gate.approve",
  actor: "anna",
  subject: "files.wipe",
  topic: "",
  reason: "",
  detail: undefined,
  count: 1,
  ...more,
});

test("[B-AUDIT-1] following adds what is new, once", () => {
  expect(merge([row(2), row(1)], [row(3), row(2), row(1)]).map(({ seq }) => seq)).toEqual([3, 2, 1]);
  expect(merge([], [row(1)])).toHaveLength(1);
});

test("[B-AUDIT-1] a search wants all its words, wherever they stand", () => {
  const rows = [row(1), row(2, { actor: "bob" }), row(3, { detail: { tool: "ANNA" }, actor: "carl" })];
  expect(search(rows, "anna").map(({ seq }) => seq)).toEqual([1, 3]);
  expect(search(rows, "wipe  bob").map(({ seq }) => seq)).toEqual([2]);
  expect(search(rows, " ")).toHaveLength(3);
});

test("[B-AUDIT-1] what is exported is one record on each line", () => {
  const lines = exportText([row(1), row(2)])
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual([1, 2]);
});
