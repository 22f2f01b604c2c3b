// JSON-RPC as clients send it: what a message is, and the answers' shape. Ids are echoed exactly, so a number
// JavaScript cannot hold stays the text it was. Pure.
import { isObject, type JsonObject, McpxError, numberOf, written } from "@mcpx/protocol";
import { faultOf, type RpcFault, rpcCodes, rpcError } from "./rpc-error.ts";

/** A string, a whole number, or the exact text of one. */
export type RequestId = string | number | object;

export interface RpcRequest {
  kind: "request";
  id: RequestId;
  method: string;
  params: JsonObject;
}

export interface RpcNotification {
  kind: "notification";
  method: string;
  params: JsonObject;
}

export interface RpcResponse {
  kind: "response";
  id: RequestId | null;
  result: JsonObject | undefined;
  fault: RpcFault | undefined;
}

export type Message = RpcRequest | RpcNotification | RpcResponse;

const idCharsMax = 256;
const methodCharsMax = 256;

/** Throws an `RpcError` with -32600 for what is no message, -32602 where `_meta` is no object. */
export function readMessage(value: unknown): Message {
  if (!isPlain(value) || value.jsonrpc !== "2.0") throw bad("not a JSON-RPC 2.0 message");
  if (value.method === undefined) return readResponse(value);
  const { id, method, params = {} } = value;
  if (typeof method !== "string" || method === "" || method.length > methodCharsMax)
    throw bad("method must be a string");
  if (id !== undefined && !isId(id)) throw bad("id must be a string or a whole number");
  if ("result" in value || "error" in value) throw bad("a request has no result and no error");
  if (!isPlain(params)) throw bad("params must be an object");
  if (params._meta !== undefined && !isPlain(params._meta))
    throw rpcError(rpcCodes.invalidParams, "Invalid params: _meta must be an object");
  return id === undefined
    ? { kind: "notification", method, params }
    : { kind: "request", id, method, params };
}

function readResponse(value: JsonObject): RpcResponse {
  const { id, result, error } = value;
  if ((result === undefined) === (error === undefined))
    throw bad("a message has a method, a result or an error");
  if (error === undefined) {
    if (!isId(id) || !isPlain(result)) throw bad("a result must be an object, with its request's id");
    return { kind: "response", id, result, fault: undefined };
  }
  if (!isFault(error)) throw bad("an error has a whole number as code, and a message");
  const { code, message, data } = error;
  const fault = { code, message, ...(data !== undefined && { data }) };
  return { kind: "response", id: isId(id) ? id : null, result: undefined, fault };
}

function isFault(error: unknown): error is JsonObject & RpcFault {
  return isPlain(error) && Number.isInteger(error.code) && typeof error.message === "string";
}

/** The id an error must carry: that of what seems to be a request, else none can be told. */
export function idOf(value: unknown): RequestId | null {
  return isPlain(value) && typeof value.method === "string" && isId(value.id) ? value.id : null;
}

/** One id, one key; `1` and `"1"` are two. */
export function keyOf(id: RequestId): string {
  return JSON.stringify(id);
}

export function isId(value: unknown): value is RequestId {
  if (typeof value === "string") return value.length <= idCharsMax;
  if (typeof value === "number") return Number.isInteger(value);
  if (numberOf(value) === undefined) return false;
  const text = JSON.stringify(value);
  return text.length <= idCharsMax && /^-?\d+$/.test(text);
}

/** An object of JSON: a number that was read exactly is one to JavaScript, and none here. */
export function isPlain(value: unknown): value is JsonObject {
  return isObject(value) && numberOf(value) === undefined;
}

/** Throws `too_deep`: what is nested without end would end the process that writes it again. */
export function checkDepth(value: unknown, depthMax: number): void {
  if (typeof value !== "object" || value === null) return;
  if (depthMax === 0) throw new McpxError("too_deep");
  if (Array.isArray(value)) for (const item of value) checkDepth(item, depthMax - 1);
  else for (const key in value) checkDepth((value as JsonObject)[key], depthMax - 1);
}

export function resultMessage(id: RequestId, result: JsonObject): JsonObject {
  return { jsonrpc: "2.0", id, result };
}

export function errorMessage(id: RequestId | null, error: RpcFault): JsonObject {
  return { jsonrpc: "2.0", id, error };
}

/** As it goes out. What is nested too deeply to be written becomes an error: the waiting caller must be answered. */
export function textOf(message: JsonObject | JsonObject[]): string {
  try {
    return JSON.stringify(message);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    const fault = faultOf(new McpxError("bad_server_answer", "the server's answer is nested too deeply"));
    const failed = (one: JsonObject) =>
      one.id === undefined
        ? notificationMessage(written(one.method), {})
        : errorMessage(one.id as RequestId, fault);
    return JSON.stringify(Array.isArray(message) ? message.map(failed) : failed(message));
  }
}

export function notificationMessage(method: string, params: JsonObject): JsonObject {
  return { jsonrpc: "2.0", method, params };
}

function bad(detail: string) {
  return rpcError(rpcCodes.invalidRequest, `Invalid Request: ${detail}`);
}
