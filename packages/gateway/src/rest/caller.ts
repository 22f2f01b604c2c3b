// Who calls over HTTP, and whether they may.
import { type HttpRequest, mayEnter, type Principal, principalOf } from "@mcpx/host";
import { isId, McpxError, quoteShort } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import { judgeLevel } from "../room/level-for.ts";

/** Who has shown a good token, for the record of what they are refused. */
const known = new WeakMap<HttpRequest, string>();

export async function callerOf(gateway: Gateway, request: HttpRequest): Promise<Principal> {
  const principal = await principalOf(request, gateway.identity.tokens);
  if (principal.id !== undefined) known.set(request, principal.id);
  return principal;
}

/** The caller's id where it is known, else where the request came from. */
export function nameOf(request: HttpRequest): string {
  return known.get(request) ?? request.remoteAddress;
}

/** The topic of the path, where the caller's token covers it; a foreign one looks the same whether it exists or not. */
export async function topicOf(gateway: Gateway, request: HttpRequest): Promise<string> {
  return checkTopic(gateway, await callerOf(gateway, request), request.params.topic);
}

/** Throws unless the topic is there and the principal may look into it. */
export async function checkTopic(gateway: Gateway, principal: Principal, topic: unknown): Promise<string> {
  if (!isId(topic)) throw new McpxError("bad_request", "invalid topic name");
  if (!mayEnter(principal, topic)) throw new McpxError("topic_forbidden");
  checkLevel(gateway, principal, topic);
  if (!(await isThere(gateway, topic))) {
    throw new McpxError("not_found", `there is no topic ${quoteShort(topic)}`);
  }
  return topic;
}

/** Another gateway may have made it since this one last looked. */
async function isThere({ topics, durableLog, neighbours }: Gateway, topic: string): Promise<boolean> {
  if (topics.has(topic) || neighbours === undefined) return topics.has(topic);
  for (const { name } of await durableLog.topics()) topics.add(name);
  return topics.has(topic);
}

export function checkLevel(gateway: Gateway, principal: Principal, topic: string): void {
  const reason = whyNot(gateway, principal, topic);
  if (reason === "unauthorised") throw new McpxError(reason, "the token names no participant");
  if (reason !== undefined) throw new McpxError(reason);
}

/** What the endpoint would say. But an admin needs no level to look, and in open mode nobody needs a name. */
export function whyNot(
  gateway: Gateway,
  principal: Principal,
  topic: string,
): "unauthorised" | "kicked" | "no_level" | undefined {
  const { id, admin } = principal;
  if (id === undefined) return admin || gateway.options.mode === "open" ? undefined : "unauthorised";
  const found = judgeLevel(gateway, principal, id, topic);
  if (found === "kicked") return found;
  return found === "no_level" && !admin ? found : undefined;
}

/** An admin's name for the record. [X1-10.3-2] */
export async function adminOf(gateway: Gateway, request: HttpRequest): Promise<string> {
  const principal = await callerOf(gateway, request);
  if (!principal.admin) throw new McpxError("admin_only");
  return principal.id ?? `token:${principal.jti}`;
}

/** A whole number of the query, or the default. */
export function numberOf(query: URLSearchParams, name: string, fallback: number): number;
export function numberOf(query: URLSearchParams, name: string, fallback: undefined): number | undefined;
export function numberOf(
  query: URLSearchParams,
  name: string,
  fallback: number | undefined,
): number | undefined {
  const value = query.get(name);
  if (value === null) return fallback;
  if (!/^\d{1,15}$/.test(value)) throw new McpxError("bad_request", `${name} must be a whole number`);
  return Number(value);
}
