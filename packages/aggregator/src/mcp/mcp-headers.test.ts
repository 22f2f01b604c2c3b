import { expect, test } from "vitest";
import { checkMcpHeaders, checkVersionHeader, paramHeadersOf } from "./mcp-headers.ts";

const call = (method: string, params = {}) => ({ kind: "request", id: 1, method, params }) as const;
const headers = (more: Record<string, string> = {}) => ({ "mcp-protocol-version": "2026-07-28", ...more });
const mismatch = expect.objectContaining({ fault: expect.objectContaining({ code: -32020 }) });

test.each([
  ["tools/call", { name: "a.b" }, "a.b"],
  ["tools/call", { name: "a b" }, "=?base64?YSBi?="],
  ["tools/call", { name: "=?base64?YSBi?=" }, "=?base64?YSBi?="],
  ["resources/read", { uri: "test://ü" }, "=?base64?dGVzdDovL8O8?="],
  ["tasks/get", { taskId: "t" }, "t"],
])("%s of %j is named %s", (method, params, name) => {
  checkMcpHeaders(headers({ "mcp-method": method, "mcp-name": name }), call(method, params));
});

test("methods without a name, and names that are none, need no header", () => {
  checkMcpHeaders(headers({ "mcp-method": "tools/list" }), call("tools/list"));
  checkMcpHeaders(headers({ "mcp-method": "tools/call" }), call("tools/call", { name: 7 }));
  checkMcpHeaders(headers({ "mcp-method": "constructor" }), call("constructor"));
});

test.each([
  [{}],
  [{ "mcp-method": "tools/call" }],
  [{ "mcp-method": "tools/list", "mcp-name": "a" }],
  [{ "mcp-method": "tools/call, tools/call", "mcp-name": "a" }],
  [{ "mcp-method": "tools/call", "mcp-name": "b" }],
  [{ "mcp-method": "tools/call", "mcp-name": "=?base64?YQ?=" }],
  [{ "mcp-method": "tools/call", "mcp-name": "=?base64?YR==?=" }],
])("%j does not say what the body says", (given) => {
  expect(() => checkMcpHeaders(headers(given), call("tools/call", { name: "a" }))).toThrow(mismatch);
});

test("the version's header must be there for requests, and the same as in the body", () => {
  expect(() => checkMcpHeaders({ "mcp-method": "tools/list" }, call("tools/list"))).toThrow(mismatch);
  checkMcpHeaders({}, { kind: "notification", method: "n", params: {} });
  checkVersionHeader(undefined, "2026-07-28");
  expect(() => checkVersionHeader("2025-11-25", "2026-07-28")).toThrow(mismatch);
});

test("parameters' headers are handed on as they came", () => {
  expect(paramHeadersOf({ "mcp-param-city": "=?base64?QmVybg==?=", "mcp-name": "a", host: "x" })).toEqual({
    "mcp-param-city": "=?base64?QmVybg==?=",
  });
});
