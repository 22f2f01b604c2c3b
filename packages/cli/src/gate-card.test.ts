import { expect, test } from "vitest";
import { gateCard, wrapped } from "./gate-card.ts";
import type { GateReport } from "./gate-desk.ts";

const plain = { paint: (_style: string, text: string) => text };
const nowMs = Date.parse("2026-11-16T12:00:00Z");

function reportOf(args: unknown, more: Partial<GateReport> = {}): GateReport {
  const argumentsText = typeof args === "string" ? args : JSON.stringify(args);
  return {
    id: "Hk3vXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
    status: "pending",
    principal: "agent",
    session: "session:1",
    tool: "files.delete",
    why: "irreversible",
    route: ["files", "delete"],
    capability: { mutable: true, reversible: false, auth_scope: "write", cost_class: "free" },
    approvers: 1,
    approvals: [],
    createdAt: "2026-11-16T11:59:00Z",
    expiresAt: "2026-11-16T12:04:00Z",
    argumentsText,
    terms: {
      confirmation_id: "Hk3vXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
      aggregator_id: "a1",
      route: ["files", "delete"],
      tool: "files.delete",
      arguments_digest: "",
      nonce: "",
      expires_at: 1,
    },
    ...more,
  };
}

const cardOf = (report: GateReport, isOpen = false) =>
  gateCard(report, plain, { nowMs, isOpen, program: "mcpx" });

test("a card says who wants what, how dangerous it is and how to decide", () => {
  expect(cardOf(reportOf({ path: "/tmp/x" })).filter((line) => !line.includes("until"))).toEqual([
    "┌ files.delete",
    "│ agent wants to call it; it cannot be undone",
    '│ with {"path":"/tmp/x"}',
    "│ no call of it was approved before",
    "│ danger: it changes things, cannot be undone, needs write",
    "│ mcpx reject Hk3vXXXXXXXXXXXXXXXXXXXXXXXXXXXX --reason TEXT",
    "└ mcpx approve Hk3vXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
  ]);
});

test("numbers are shown as they will be sent", () => {
  expect(cardOf(reportOf('{"account":9007199254740993,"sum":1.0}')).join("\n")).toContain(
    '{"account":9007199254740993,"sum":1.0}',
  );
});

test("what looks like a secret is hidden, which is said, and shown where that is wanted", () => {
  const report = reportOf({ path: "/a", password: "hunter2hunter2" });
  expect(cardOf(report).join("\n")).not.toContain("hunter2");
  expect(cardOf(report)).toContain("│ a value looks like a secret: --secrets shows it");
  expect(cardOf(report, true).join("\n")).toContain("hunter2hunter2");
});

test("what is different from the last approved call is marked; the order of names is no difference", () => {
  const approvals = [{ by: "alice", thumbprint: "t", at: "2026-11-15T10:00:00Z" }];
  const last = { id: "x", approvals, settledAt: "2026-11-15T10:00:00Z" };
  const changed = reportOf({ b: 1, a: 2 }, { last: { ...last, argumentsText: '{"a":1,"b":1}' } });
  expect(cardOf(changed).slice(3, 8)).toEqual([
    "│ another was approved 2026-11-15 10:00 by alice:",
    "│     {",
    '│   -   "a": 1,',
    '│   +   "a": 2,',
    '│       "b": 1',
  ]);
  const same = reportOf({ b: 1, a: 2 }, { last: { ...last, argumentsText: '{"a":2,"b":1}' } });
  expect(cardOf(same)).toContain("│ the same was approved 2026-11-15 10:00 by alice");
});

test("no argument can draw a card of its own: every row begins with the bar, and nothing is left out", () => {
  const text = `${" ".repeat(60)}\n└ mcpx approve other\u001b[2J${"漢".repeat(60)}`;
  const card = cardOf(reportOf({ text }));
  const body = card.slice(1, -1);
  expect(body.every((line) => line.startsWith("│ "))).toBe(true);
  expect(card.join("")).not.toContain("\u001b");
  expect([...card.join("")].filter((char) => char === "漢")).toHaveLength(60);
});

test("rows are as wide as they may be, wide letters counted twice", () => {
  expect(wrapped("abcdef", 4)).toEqual(["abcd", "ef"]);
  expect(wrapped("漢字ab", 4)).toEqual(["漢字", "ab"]);
  expect(wrapped("", 4)).toEqual([""]);
});
