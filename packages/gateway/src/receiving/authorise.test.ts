import { type Action, actions, defaultLimits, levels, levelTable, readEnvelope, scan } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { actionOf, authorise } from "./authorise.ts";

function envelope(fields: object) {
  const text = JSON.stringify({ protocol: "mcpx/v0.1", id: "e", kind: "mcp", payload: {}, ...fields });
  return readEnvelope(scan(text, defaultLimits), defaultLimits);
}

const chatMethod = "notifications/chat/message";

describe("[X1-3.2-1] what an envelope does is told by its kind and the shape of JSON-RPC alone:", () => {
  test.each<[Action, object]>([
    ["mcp.request", { payload: { jsonrpc: "2.0", id: 1, method: "anything/at-all" } }],
    ["mcp.notification", { payload: { jsonrpc: "2.0", method: "anything" } }],
    ["mcp.response", { payload: { jsonrpc: "2.0", id: 1, result: {} } }],
    ["mcp.response", { payload: { jsonrpc: "2.0", error: { code: 1, message: "" } } }],
    // What cannot make up its mind counts as the most a restricted sender could hide in it.
    ["mcp.response", { payload: { id: 1, method: "m", result: {} } }],
    ["mcp.notification", { payload: {} }],
    ["mcp.request", { kind: "mcp/request:tools/call", payload: { id: 1, method: "tools/call" } }],
    ["proposal", { kind: "mcp/proposal" }],
    ["proposal", { kind: "mcp.proposal.tools/call:x" }],
    ["chat", { kind: "chat" }],
    ["withdraw", { kind: "mcpx.withdraw.proposal" }],
    ["reject", { kind: "mcpx.reject.proposal" }],
    ["status", { kind: "mcpx.status.proposal" }],
    ["system.refresh", { kind: "system", payload: { type: "refresh" } }],
    ["system.tool_access_policy", { kind: "system", payload: { type: "tool_access_policy" } }],
    ["chat", { protocol: "mcp-x/v0", payload: { method: chatMethod } }],
    ["mcp.notification", { payload: { method: chatMethod } }],
    ["mcp.request", { protocol: "mcp-x/v0", payload: { method: chatMethod, id: 1 } }],
  ])("%s: %j", (action, fields) => {
    expect(actionOf(envelope(fields))).toBe(action);
  });
});

test.each([
  "initialize",
  "ping",
  "tools/list",
  "tools/call",
  "tools/request",
  "capabilities/request",
  chatMethod,
])("[X1-3.2-1] the method %s makes nothing else of a request or a notification", (method) => {
  const payload = { jsonrpc: "2.0", method, params: { text: "" } };
  expect(actionOf(envelope({ payload: { ...payload, id: 1 } }))).toBe("mcp.request");
  expect(actionOf(envelope({ payload }))).toBe("mcp.notification");
});

test("[AC-11-1] where the operator keeps it for old peers, a request for a tool is an action of its own", () => {
  const payload = { jsonrpc: "2.0", id: 1, method: "tools/request", params: {} };
  expect(actionOf(envelope({ payload }), true)).toBe("tools_request");
  expect(actionOf(envelope({ payload: { ...payload, method: "tools/call" } }), true)).toBe("mcp.request");
  expect(actionOf(envelope({ payload: { ...payload, result: {} } }), true)).toBe("mcp.response");
  expect(actionOf(envelope({ payload: { ...payload, id: undefined } }), true)).toBe("mcp.notification");
});

test.each([
  ["kind_not_allowed", { kind: "presence", payload: { event: "join" } }],
  ["bad_system", { kind: "system", payload: {} }],
  ["bad_system", { kind: "system", payload: { type: "welcome" } }],
  ["bad_system", { kind: "system", payload: { type: "toString" } }],
  ["bad_system", { kind: "system", payload: { type: ["refresh"] } }],
  ["bad_system", { kind: "system", payload: { type: "refresh", event: "ack" } }],
])("[X1-4-2] [X1-4-3] no participant may send this (%s): %j", (code, fields) => {
  expect(() => actionOf(envelope(fields))).toThrow(expect.objectContaining({ code }));
});

test("[X1-3.1-4] the table decides; a denied MCP message is told what to do instead", () => {
  for (const level of levels) {
    for (const action of actions) {
      const permission = levelTable[level][action];
      if (permission !== "no") expect(authorise(levelTable, level, action)).toBe(permission);
      else {
        const code = action.startsWith("mcp.") ? "privilege_violation" : "kind_not_allowed";
        expect(() => authorise(levelTable, level, action)).toThrow(expect.objectContaining({ code }));
      }
    }
  }
  expect(() => authorise(levelTable, "restricted", "mcp.request")).toThrow(
    expect.objectContaining({ suggestion: "Use kind: 'mcp/proposal' instead" }),
  );
});
