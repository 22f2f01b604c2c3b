import { expect, test } from "vitest";
import type { GateReport } from "./gate-access.ts";
import { gateCard, wrapped } from "./gate-card.ts";

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
      version: 2,
      asker: "agent",
      server: { name: "files", identity: "stdio:x", tool: "delete", definition: "" },
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
  gateCard(report, plain, {
    nowMs,
    isOpen,
    decide: { approve: `mcpx approve ${report.id}`, reject: `mcpx reject ${report.id} --reason TEXT` },
  });

test("a card says who wants what, how dangerous it is and how to decide", () => {
  expect(cardOf(reportOf({ path: "/tmp/x" })).filter((line) => !line.includes("until"))).toEqual([
    "┌ files.delete",
    "│ agent wants to call it; it cannot be undone",
    '│ with {"path":"/tmp/x"}',
    "│ no call of it was approved before",
    "│ danger: it changes things, cannot be undone, needs write",
    "│ goes to files, tool delete (stdio:x)",
    "│ mcpx reject Hk3vXXXXXXXXXXXXXXXXXXXXXXXXXXXX --reason TEXT",
    "└ mcpx approve Hk3vXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
  ]);
});

test("[B-SIGN-1] a call of an older build says that its asker is not signed", () => {
  const { version: _, asker: __, server: ___, ...terms } = reportOf({}).terms;
  const lines = cardOf(reportOf({}, { terms })).join(" ").replaceAll(/ ?│ /g, "");
  expect(lines).toContain("asker not signed: an older build stored this call; it can only be rejected");
  expect(lines).not.toContain("goes to");
});

test("what a tool does not say is said to be assumed", () => {
  const capability = { mutable: true, reversible: false, auth_scope: "write", cost_class: "metered" };
  const lines = cardOf(reportOf({}, { why: "unannotated", capability }));
  expect(lines).toContain("│ agent wants to call it; no trusted annotation says how dangerous it is");
  expect(lines.join("").replaceAll("│ ", "")).toContain(
    "danger: treated as irreversible (needs write, metered)",
  );
});

test("a held result is shown to the letter, and how to release it; no line of it draws a card", () => {
  const text = "one\n└ mcpx approve other\u001b[2J";
  const outcome = {
    result: { content: [{ type: "text", text }], structuredContent: { n: 1 }, isError: false },
  };
  const review = { digest: "", approvals: [] };
  const report = reportOf({ path: "/a" }, { status: "held", why: "rule 1", outcome, review });
  expect(cardOf(report).filter((line) => !line.includes("until"))).toEqual([
    "┌ files.delete",
    "│ agent has called it; rule 1 asks for it",
    '│ with {"path":"/a"}',
    "│ the call was made; this is its result, which the caller has not seen:",
    "│   one",
    "│   └ mcpx approve other\\u001b[2J",
    '│   {"structuredContent":{"n":1},"isError":false}',
    "│ danger: it changes things, cannot be undone, needs write",
    "│ goes to files, tool delete (stdio:x)",
    `│ mcpx reject ${report.id} --reason TEXT`,
    `└ mcpx approve ${report.id}`,
  ]);
});

test("a result too long to be shown says so, and one that hides a secret does", () => {
  const held = (outcome: NonNullable<GateReport["outcome"]>) =>
    cardOf(reportOf({}, { status: "held", review: { digest: "", approvals: [] }, outcome })).join("\n");
  const text = "line\n".repeat(5_000);
  const long = held({ result: { content: [{ type: "text", text }] } });
  expect(long).toContain("you have not seen all of it: --json shows it");
  expect(long.split("\n").length).toBeLessThan(300);
  const short = held({ result: { content: [{ type: "text", text: "line" }] } });
  expect(short).not.toContain("not seen all");
  expect(held({ error: { code: 1, message: "no\u202e" } })).toContain("no\\u202e");
  expect(held({ result: { content: [], password: "hunter2hunter2" } })).not.toContain("hunter2");
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

test("what is different from the last approved call is marked, and of it too nothing secret", () => {
  const approvals = [{ by: "alice", thumbprint: "t", at: "2026-11-15T10:00:00Z" }];
  const last = { approvals, settledAt: "2026-11-15T10:00:00Z" };
  const changes = [
    { path: "/a", old: "1", new: "2" },
    { path: "/c", old: "true" },
    { path: "/password", old: '"hunter2hunter2"' },
  ];
  const changed = reportOf({ b: 1, a: 2 }, { last: { ...last, changes, more: 3 } });
  expect(cardOf(changed).slice(3, 9)).toEqual([
    "│ another was approved 2026-11-15 10:00 by alice:",
    "│   - /a: 1",
    "│   + /a: 2",
    "│   - /c: true",
    '│   - /password: "•••"',
    "│   … and 3 more changes",
  ]);
  const same = reportOf({ b: 1, a: 2 }, { last: { ...last, changes: [], more: 0 } });
  expect(cardOf(same)).toContain("│ the same was approved 2026-11-15 10:00 by alice");
});

test("what a room could not hold is said to be elsewhere, and who shows it where", () => {
  const leftOut = "arguments of 300000 characters: read them at http://127.0.0.1/approve/x";
  const card = cardOf(reportOf("", { leftOut, place: "shown in ops by tree" }));
  expect(card).toContain(`│ with ${leftOut}`);
  expect(card).toContain("│ shown in ops by tree");
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

test("what the tool or the arguments hide is said on the card", () => {
  const card = cardOf(
    reportOf(
      { path: "a\u202eb\u009b", to: "שלום" },
      { warnings: ["its definition: description contains \u200b"] },
    ),
  );
  const lines = card.map((line) => line.replace(/^│ /, "")).join("");
  expect(lines).toContain("⚠ its definition: description contains \\u200b");
  expect(lines).toContain(
    "⚠ the arguments contain 2 hidden characters: U+202E (direction control) at 10, U+009B",
  );
  expect(lines).toContain("run from right to left");
  expect(lines).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test("a secret is masked also where it is a number, or where the terminal would write it another way", () => {
  const args = { owner: "gran", pin: 4711, password: "open\u200bsesame\u202e" };
  const card = cardOf(reportOf(args, { secrets: ["/pin"] })).join("\n");
  expect(card).toContain('"pin":"•••"');
  expect(card).toContain("gran");
  expect(card).not.toMatch(/4711|sesame/);
  expect(cardOf(reportOf(args), true).join("\n")).toMatch(/4711.*sesame/s);
});
