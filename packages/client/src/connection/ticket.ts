// The endpoint: a token is traded for a ticket, so that the standard WebSocket suffices; and what a refusal there means.

import { isObject, type JsonObject, written } from "@mcpx/protocol";
import { retryAfter } from "../core/retry-after.ts";
import { RoomError } from "../core/room-error.ts";

/** The gateway's address as fetch wants it, without a slash at its end. */
export function httpBase(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  const scheme = protocol.replace(/^ws/, "http");
  if (scheme !== "http:" && scheme !== "https:") throw new RoomError("bad_option", `invalid address ${url}`);
  let path = pathname;
  while (path.endsWith("/")) path = path.slice(0, -1);
  return `${scheme}//${host}${path}`;
}

/** Calls the gateway; a refusal becomes a `RoomError` with the gateway's word, anything else `network`. */
export async function callGateway(
  address: string,
  token: string,
  init: { method?: string; body?: JsonObject; signal: AbortSignal; heard?: (text: string) => void },
): Promise<JsonObject> {
  const { method = "GET", body, signal } = init;
  if (signal.aborted) throw signal.reason;
  let response: Response;
  let answer: unknown;
  // A signal of its own: fetch leaves its listeners on the one it is given until they are collected.
  const abort = new AbortController();
  const onAbort = () => abort.abort(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    response = await fetch(address, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: abort.signal,
    });
    const text = await response.text();
    answer = JSON.parse(text);
    init.heard?.(text);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new RoomError("network", unreachableText(new URL(address).origin), { cause });
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
  if (response.ok && isObject(answer)) return answer;
  throw refusal(response, isObject(answer) && isObject(answer.error) ? answer.error : {});
}

/** A browser does not tell a page whether the gateway was away or has refused the page's origin. */
function unreachableText(gateway: string): string {
  const page = (globalThis as { location?: { origin?: string } }).location?.origin;
  const text = `the gateway at ${gateway} cannot be reached`;
  if (page === undefined || page === gateway) return text;
  return `${text}, or does not allow pages of ${page}: add that to listen.origins of the gateway`;
}

function refusal(response: Response, error: JsonObject): RoomError {
  const isOurs = typeof error.reason === "string";
  return new RoomError(
    isOurs ? written(error.reason) : "network",
    isOurs ? written(error.message) : `the gateway answered ${response.status}`,
    {
      ...(typeof error.code === "number" ? { code: error.code } : {}),
      ...retryAfter(Number(response.headers.get("retry-after")) * 1_000),
      data: error,
    },
  );
}

/** Whether the same thing may work later. The gateway's own numbers are HTTP status × 100 + n. */
export function isPassing({ reason, code = 0 }: RoomError): boolean {
  return reason === "network" || reason === "rate_limited" || code >= 50_000;
}

/** Whether another token would help. */
export function isAboutToken(error: RoomError): boolean {
  return error.reason === "unauthorised" || error.reason.startsWith("token_");
}
