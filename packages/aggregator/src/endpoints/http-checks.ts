// What of an HTTP request can be refused before its body says anything. Pure.
import type { HttpRequest } from "@mcpx/host";
import { legacyRevisions } from "../mcp/era.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import { refuse } from "./refusal.ts";

type Asked = Pick<HttpRequest, "headers" | "hasJson">;

/** Throws 415 or 406. */
export function checkPost(request: Asked): void {
  // Also a wall against forms: a page cannot send this type elsewhere without being asked first (CORS).
  if (!request.hasJson()) throw refuse(415, "content-type must be application/json");
  checkAccept(request, "application/json");
  checkAccept(request, "text/event-stream");
}

/** Throws 406. Nothing said is all accepted. */
export function checkAccept({ headers: { accept } }: Pick<Asked, "headers">, type: string): void {
  if (accept === undefined || accept.includes(type) || accept.includes("*/*")) return;
  if (!accept.includes(`${type.slice(0, type.indexOf("/"))}/*`))
    throw refuse(406, `accept must include ${type}`);
}

/** Throws -32600 for a revision no session can have. */
export function checkLegacyVersion(version: string | undefined): void {
  if (version === undefined || legacyRevisions.some((known) => known === version)) return;
  throw rpcError(rpcCodes.invalidRequest, "Invalid Request: unsupported protocol version", {
    supported: legacyRevisions,
    requested: version,
  });
}
