// A request as handlers see it.
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { McpxError } from "@mcpx/protocol";
import { plainAddress } from "./addresses.ts";
import { readJson } from "./read-json.ts";
import { isFromLoopback } from "./strangers.ts";

export interface HttpRequest {
  method: string;
  /** As it came, percent-encoded, without the query. */
  path: string;
  /** Parts of the path named by the route, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  remoteAddress: string;
  /** The peer is this machine, and nothing forwarded the request. */
  isLoopback: boolean;
  /** The body as JSON, within `limits.bodyBytesMax`. */
  json(): Promise<unknown>;
}

export interface UpgradeRequest extends HttpRequest {
  /** What a WebSocket library wants to see. */
  raw: IncomingMessage;
}

// Addresses end up in histories and logs: no long-lived token in a URL, ever. [X0-5.1-1]
const tokenParameters = new Set(["token", "access_token", "id_token", "jwt", "bearer", "authorization"]);

/** Reads the request line. Throws `bad_request` for what is no address, or has a token in it. */
export function createRequest(raw: IncomingMessage, limits: { bodyBytesMax: number }): HttpRequest {
  const target = raw.url ?? "";
  // The absolute form is for proxies; we are none.
  if (!target.startsWith("/")) throw new McpxError("bad_request", "the address must start with /");
  const mark = target.indexOf("?");
  const query = new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1));
  for (const name of query.keys()) {
    if (tokenParameters.has(name.toLowerCase())) {
      throw new McpxError("bad_request", `a token in the address (${name.toLowerCase()}=) ends up in logs`, {
        suggestion: "Send `Authorization: Bearer TOKEN`, or trade it for a ticket at POST /v0/tickets",
      });
    }
  }
  // Node keeps the first of several; which one counts must not be a matter of taste.
  if ((raw.headersDistinct.authorization?.length ?? 0) > 1) {
    throw new McpxError("bad_request", "Authorization is given more than once");
  }
  return {
    method: raw.method ?? "GET",
    path: mark === -1 ? target : target.slice(0, mark),
    params: {},
    query,
    headers: raw.headers,
    remoteAddress: plainAddress(raw.socket.remoteAddress ?? ""),
    isLoopback: isFromLoopback(raw),
    json: () => readJson(raw, limits.bodyBytesMax),
  };
}
