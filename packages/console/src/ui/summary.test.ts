import type { RoomEnvelope } from "@mcpx/client";
import { expect, test } from "vitest";
import { summaryOf } from "./summary.ts";

const said = (kind: string, payload: object) =>
  summaryOf({ protocol: "mcpx/v0.1", id: "e", ts: "", from: "anna", kind, payload } as RoomEnvelope);
const rpc = (body: object) => said("mcp", { jsonrpc: "2.0", id: 1, ...body });

test("each kind is told in words", () => {
  expect(said("chat", { text: "hello" })).toMatchObject({ verb: "", text: "hello" });
  const call = { method: "tools/call", params: { name: "heat", arguments: { celsius: 1 } } };
  expect(said("mcp/proposal", call)).toMatchObject({ verb: "proposes", tool: "heat", text: '{"celsius":1}' });
  expect(rpc(call)).toMatchObject({ verb: "called", tool: "heat" });
  expect(rpc({ result: { content: [{ type: "text", text: "ok" }] } })).toMatchObject({
    verb: "answered",
    text: "ok",
  });
  expect(rpc({ result: { isError: true, content: [] } })).toMatchObject({ verb: "failed", tone: "bad" });
  expect(rpc({ error: { code: 1, message: "no" } })).toMatchObject({ verb: "failed", text: "no" });
  expect(said("mcpx.reject.proposal", { reason: "no" })).toMatchObject({ verb: "rejected", text: "no" });
  expect(said("presence", { event: "join", participant: { id: "bob" } }).verb).toBe("bob joined");
  const change = {
    event: "privilege_changed",
    participant: "bob",
    old: "restricted",
    new: "full",
    by: "anna",
  };
  expect(said("system", change).text).toBe("bob from restricted to full, by anna");
});

test("whatever a stranger sends, a line comes of it, and a short one", () => {
  for (const payload of [{}, { text: 7 }, { text: null }, { params: 1 }, { result: null }, { error: "x" }]) {
    for (const kind of ["chat", "mcp", "mcp/proposal", "presence", "system", "made.up"]) {
      expect(typeof said(kind, payload).text, kind).toBe("string");
    }
  }
  expect(said("chat", { text: "a".repeat(1_000_000) }).text.length).toBeLessThan(400);
});
