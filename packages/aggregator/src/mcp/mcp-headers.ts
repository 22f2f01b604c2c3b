// The `Mcp-*` headers of modern HTTP requests must say what the body says: a proxy that routed by them must not have
// been misled. Pure.
import type { IncomingHttpHeaders } from "node:http";
import type { RpcNotification, RpcRequest } from "./message.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

/** Which member of the params `Mcp-Name` repeats. */
const nameMembers: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

export function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value.trim() : undefined;
}

/** Throws -32020. Before the revision is looked at: a witness that differs is worse than one we do not serve. */
export function checkVersionHeader(version: string | undefined, revision: string): void {
  if (version !== undefined && version !== revision)
    throw mismatch("MCP-Protocol-Version", version, revision);
}

/** Throws -32020. Requests must have the headers; where notifications have them they must be right. */
export function checkMcpHeaders(
  headers: IncomingHttpHeaders,
  { kind, method, params }: RpcRequest | RpcNotification,
): void {
  const given = headerOf(headers, "mcp-method");
  if (given !== undefined && given !== method) throw mismatch("Mcp-Method", given, method);
  if (kind === "notification") return;
  if (headerOf(headers, "mcp-protocol-version") === undefined) throw missing("MCP-Protocol-Version");
  if (given === undefined) throw missing("Mcp-Method");
  const member = Object.hasOwn(nameMembers, method) ? nameMembers[method] : undefined;
  const name = member === undefined ? undefined : params[member];
  if (typeof name !== "string") return;
  const header = headerOf(headers, "mcp-name");
  if (header === undefined) throw missing("Mcp-Name");
  if (header !== name && decodedHeader(header) !== name) throw mismatch("Mcp-Name", header, name);
}

/** `Mcp-Param-*` as they came: the code that knows the tool's schema checks them. */
export function paramHeadersOf(headers: IncomingHttpHeaders): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (name.startsWith("mcp-param-") && typeof value === "string") found[name] = value;
  }
  return found;
}

/** Text that fits no header comes as `=?base64?…?=`; what only looks like it is `undefined`. */
function decodedHeader(header: string): string | undefined {
  const base64 = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(header)?.[1];
  if (base64 === undefined) return undefined;
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes.toString() : undefined;
}

function mismatch(name: string, header: string, body: string) {
  return rpcError(rpcCodes.headerMismatch, `Header mismatch: ${name} differs from the body`, {
    mismatch: { header, body },
  });
}

function missing(name: string) {
  return rpcError(rpcCodes.headerMismatch, `Header mismatch: ${name} is missing`, { missing: name });
}
