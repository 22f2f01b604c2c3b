// Just enough of JSON-RPC 2.0 to know what a message is. It looks at no method. [X0-4.1-1] [X1-3.2-1]
import { McpxError } from "../errors.ts";
import { foldCase } from "../names.ts";

export type JsonObject = { [key: string]: unknown };

export type JsonRpcShape = "request" | "notification" | "response";

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A request's id: a string or a number, never null in MCP. [X0-4.1-5] */
export function isRequestId(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

const members = new Set(["jsonrpc", "id", "method", "params", "result", "error"]);

/** Says what a payload is, or throws `bad_json_rpc` with the fault. */
export function jsonRpcShape(payload: JsonObject): JsonRpcShape {
  const has = (key: string) => Object.hasOwn(payload, key);
  const bad = (detail: string) => new McpxError("bad_json_rpc", detail);
  // Some readers ignore case: a response with a `Method` would be a request to them.
  for (const key of Object.keys(payload)) {
    const lower = foldCase(key);
    if (key !== lower && members.has(lower)) throw bad(`payload has a look-alike of ${lower}`);
  }
  if (payload.jsonrpc !== "2.0") throw bad('payload.jsonrpc must be "2.0"');
  if (has("method")) {
    if (typeof payload.method !== "string" || payload.method === "")
      throw bad("payload.method must be a string, not empty");
    if (has("result") || has("error")) throw bad("payload has both method and result or error");
    if (has("params") && !isObject(payload.params)) throw bad("payload.params must be an object");
    if (!has("id")) return "notification";
    if (!isRequestId(payload.id)) throw bad("payload.id must be a string or a number");
    return "request";
  }
  if (has("result") === has("error")) throw bad("payload must have exactly one of method, result and error");
  if (has("result")) {
    if (!isObject(payload.result)) throw bad("payload.result must be an object");
    if (!isRequestId(payload.id)) throw bad("payload.id must be a string or a number");
    return "response";
  }
  checkError(payload.error, bad);
  // An error may have no id when the request was unreadable.
  if (!isRequestId(payload.id) && payload.id !== null && has("id")) {
    throw bad("payload.id must be a string, a number or null");
  }
  return "response";
}

function checkError(error: unknown, bad: (detail: string) => McpxError): void {
  if (!isObject(error)) throw bad("payload.error must be an object");
  if (!Number.isInteger(error.code)) throw bad("payload.error.code must be an integer");
  if (typeof error.message !== "string") throw bad("payload.error.message must be a string");
}
