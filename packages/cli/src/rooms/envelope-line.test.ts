import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { envelopeLine, envelopeParts } from "./envelope-line.ts";

const plain = { paint: (_: string, text: string) => text };

function parts(kind: string, payload: JsonObject, more: JsonObject = {}) {
  const { kind: word, gist } = envelopeParts({ from: "alice", kind, payload, ...more });
  return `${word}: ${gist}`;
}

test("each kind of envelope has a gist", () => {
  expect(parts("chat", { text: "hello" })).toBe("chat: hello");
  expect(parts("mcp", { method: "tools/call", id: 1, params: { name: "deploy" } })).toBe(
    "request: tools/call deploy",
  );
  expect(parts("mcp", { method: "notifications/progress" })).toBe("notice: notifications/progress");
  expect(parts("mcp", { id: 1, result: {} })).toBe("result: ");
  expect(parts("mcp", { id: 1, error: { code: -32001, message: "no" } })).toBe("error: -32001 no");
  const proposal = { method: "tools/call", params: { name: "deploy" }, reason: "it is time" };
  expect(parts("mcp/proposal", proposal)).toBe("proposal: tools/call deploy: it is time");
  expect(parts("mcpx.reject.proposal", { reason: "busy" })).toBe("reject: busy");
  expect(parts("mcpx.withdraw.proposal", {})).toBe("withdraw: ");
  expect(parts("mcpx.status.proposal", { status: "queued" })).toBe("status: queued");
});

test("[X0-8.1-1] chat of either protocol reads the same", () => {
  const payload = { jsonrpc: "2.0", method: "notifications/chat/message", params: { text: "hello" } };
  expect(parts("mcp", payload)).toBe("chat: hello");
});

test("what the gateway tells a room is said in words", () => {
  const participant = { id: "bob", kind: "agent", privilege: "restricted" };
  expect(parts("presence", { event: "join", participant })).toBe("presence: bob joined (agent, restricted)");
  expect(parts("presence", { event: "leave", participant, reason: "kicked" })).toBe(
    "presence: bob left (kicked)",
  );
  expect(parts("presence", { event: "leave", participant, reason: "left" })).toBe("presence: bob left");
  const changed = {
    event: "privilege_changed",
    participant: "bob",
    old: "full",
    new: "restricted",
    by: "ops",
  };
  expect(parts("system", changed)).toBe("system: bob is now restricted, by ops");
  expect(parts("system", { event: "error", message: "no" })).toBe("error: error: no");
});

test("[X0-3-2] a directed envelope shows whom it is for", () => {
  const now = new Date(2026, 4, 1, 12, 0, 0);
  const at = new Date(2026, 4, 1, 11, 58, 3).toISOString();
  const envelope = { from: "a", to: ["b", "c", "d", "e"], kind: "chat", payload: { text: "hi" }, at };
  expect(envelopeLine(envelope, plain, now)).toBe("11:58:03  a → b, c, d and 1 more  chat  hi");
});

test("the day is shown only when it is another one", () => {
  const at = new Date(2026, 3, 30, 9, 8, 7).toISOString();
  const envelope = { from: "a", kind: "chat", payload: { text: "hi" }, ts: at };
  expect(envelopeLine(envelope, plain, new Date(2026, 4, 1))).toBe("2026-04-30 09:08:07  a  chat  hi");
});

test("no field of a stranger's envelope reaches the terminal raw or makes a second line", () => {
  const evil = "\u001b]0;owned\u0007\nroot";
  const envelopes: JsonObject[] = [
    { from: evil, to: [evil], kind: evil, payload: {}, at: evil },
    { from: evil, kind: "chat", payload: { text: evil } },
    { from: evil, kind: "mcp", payload: { method: evil, params: { name: evil } } },
    { from: evil, kind: "mcp", payload: { error: { code: evil, message: evil } } },
    { from: evil, kind: "mcp/proposal", payload: { method: evil, params: { uri: evil }, reason: evil } },
    { from: evil, kind: "presence", payload: { event: evil, participant: { id: evil, kind: evil } } },
    { from: evil, kind: "system", payload: { event: evil, message: evil, participant: [evil] } },
    { from: 1, to: "x", kind: null, payload: "no" },
  ];
  for (const envelope of envelopes) {
    expect(envelopeLine(envelope, plain, new Date())).not.toMatch(/\p{Cc}/u);
  }
});

test("a flood of text is cut, an ordinary long line is not", () => {
  const line = (length: number) => {
    const payload = { text: "x".repeat(length) };
    return envelopeLine(
      { from: "a", kind: "chat", payload, at: new Date().toISOString() },
      plain,
      new Date(),
    );
  };
  expect(line(400)).toContain("x".repeat(400));
  expect(line(9_999).length).toBeLessThan(600);
});
