// The first look at every request and upgrade: is it for us (Host), and from a page we know (Origin)? A web page
// anywhere can make a browser talk to a loopback port; these two headers are what it cannot forge. [X0-9-2]
import type { IncomingMessage } from "node:http";
import { McpxError } from "@mcpx/protocol";
import { isLoopbackHost, isWildcardHost, parseHost, plainAddress } from "./addresses.ts";

export interface StrangerRules {
  /** The address listened on. */
  host: string;
  isTls: boolean;
  /** Further names this listener answers to: `name` or `name:port`. */
  hosts: readonly string[];
  /** Origins of pages elsewhere that may talk to us, and our own where a proxy does the TLS, as browsers write them. */
  origins: readonly string[];
  /** Told of each request that is refused for its origin. */
  originRefused?: ((origin: string) => void) | undefined;
}

/**
 * Headers of one request; each can take ten times its bytes in memory. Node is told to keep one more: some releases refuse
 * what has more than that, others leave it out and say nothing, Origin perhaps with it. So it is refused here too.
 */
export const headersMax = 256;

/** Throws `foreign_host`, `foreign_origin` or `bad_request`; returns the configured origin the request comes from, if any. */
export function checkStranger(raw: IncomingMessage, rules: StrangerRules): string | undefined {
  if (raw.rawHeaders.length > 2 * headersMax)
    throw new McpxError("bad_request", `a request may have ${headersMax} headers`);
  const host = onlyHeader(raw, "host");
  if (host === undefined) throw new McpxError("bad_request", "there must be exactly one Host header");
  if (!isServedHost(host, raw.socket.localAddress ?? "", rules)) throw new McpxError("foreign_host");
  if (raw.headers.origin === undefined) return undefined;
  const origin = onlyHeader(raw, "origin");
  if (origin !== undefined && rules.origins.includes(origin)) return origin;
  if (origin === undefined || !isSameOrigin(origin, host, isReachedByTls(raw, rules))) {
    if (origin !== undefined) rules.originRefused?.(origin);
    throw new McpxError("foreign_origin");
  }
  return undefined;
}

function onlyHeader(raw: IncomingMessage, name: "host" | "origin"): string | undefined {
  return countOf(raw, name) === 1 ? raw.headers[name] : undefined;
}

/** How often a header came. Looking costs less than Node's own list of them all, and every request is looked at. */
export function countOf({ rawHeaders }: IncomingMessage, name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const given = rawHeaders[i] ?? "";
    if (given.length === name.length && given.toLowerCase() === name) count += 1;
  }
  return count;
}

function isServedHost(header: string, localAddress: string, rules: StrangerRules): boolean {
  const given = parseHost(header);
  if (given === undefined) return false;
  if (given.name === "localhost" || given.name === "127.0.0.1" || given.name === "::1") return true;
  if (given.name === parseHost(bracketed(rules.host))?.name) return !isWildcardHost(rules.host);
  // Listening everywhere, the address the peer connected to is ours; no name can be rebound to a number.
  if (isWildcardHost(rules.host) && given.name === plainAddress(localAddress)) return true;
  return rules.hosts.some((allowed) => {
    const served = parseHost(allowed);
    return served?.name === given.name && (served.port === undefined || served.port === given.port);
  });
}

/** Whether who asks speaks TLS: to us, or to a proxy whose address is configured as an origin. */
export function isReachedByTls({ headers }: IncomingMessage, { isTls, origins }: StrangerRules): boolean {
  return isTls || origins.includes(`https://${headers.host}`);
}

function isSameOrigin(origin: string, host: string, isTls: boolean): boolean {
  const own = URL.parse(`${isTls ? "https" : "http"}://${host}`);
  return own !== null && own.origin === origin;
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

/**
 * Whether a request came from this machine itself, not through something that forwards. Not everything that does says
 * so, and `Host` is what its client wrote: where we are known by other names or origins, nobody counts.
 */
export function isFromLoopback(raw: IncomingMessage, { hosts, origins }: StrangerRules): boolean {
  if (hosts.length > 0 || origins.length > 0) return false;
  const named = parseHost(raw.headers.host ?? "")?.name ?? "";
  const forwarded = Object.keys(raw.headers).some(
    (name) =>
      name === "forwarded" || name === "via" || name === "x-real-ip" || name.startsWith("x-forwarded-"),
  );
  return !forwarded && isLoopbackHost(named) && isLoopbackHost(raw.socket.remoteAddress ?? "");
}
