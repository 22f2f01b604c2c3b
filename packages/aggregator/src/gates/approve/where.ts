// The origin at which a browser sees a page of the gateway. Passkeys are bound to it.
import { isIP } from "node:net";
import type { HttpRequest } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

/** What the browser calls it, which the listener has found to be ours or configured; behind a proxy only it knows. */
export function originOf({ headers, origin }: Pick<HttpRequest, "headers" | "origin">): string {
  return headers.origin ?? origin;
}

/** The name passkeys are made for: the host without its port. */
export function rpIdOf(origin: string): string {
  return URL.parse(origin)?.hostname ?? "";
}

/** Throws where browsers have no passkeys: at a number instead of a name. */
export function checkNamed(rpId: string): void {
  if (rpId === "" || rpId.startsWith("[") || isIP(rpId) !== 0) {
    throw new McpxError("bad_request", "passkeys need a name: open this page at localhost or a host name");
  }
}

/** The same address by name: on this machine a number has one. */
export function named(url: URL): URL {
  if (url.hostname === "[::1]" || url.hostname === "127.0.0.1") url.hostname = "localhost";
  return url;
}
