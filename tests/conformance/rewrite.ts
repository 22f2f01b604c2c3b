// Rewriting of JSON-RPC messages by two hooks, in bodies and event streams, and the rewriting that gives tools,
// prompts and resources other names: so the suite, which knows fixed names, can judge a server mounted under a prefix.
import type { IncomingHttpHeaders } from "node:http";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Rewrite {
  /** A message on its way to the server; its headers are changed in place. */
  request(message: JsonObject, headers: IncomingHttpHeaders): JsonObject;
  /** A message on its way back: an answer, a notification, or a question of a legacy server. */
  response(message: JsonObject): JsonObject;
}

export interface Mapping {
  toServer(value: string): string;
  toClient(value: string): string;
}

const same: Mapping = { toServer: (value) => value, toClient: (value) => value };

export function prefixed(prefix: string): Mapping {
  return {
    toServer: (value) => prefix + value,
    toClient: (value) => (value.startsWith(prefix) ? value.slice(prefix.length) : value),
  };
}

/** Names of tools and prompts, and URIs of resources, wherever messages carry them. */
export function renaming({ name = same, uri = same }: { name?: Mapping; uri?: Mapping }): Rewrite {
  return {
    request(message, headers) {
      renameHeader(message, headers, name, uri);
      return renameParams(message, name.toServer, uri.toServer);
    },
    response(message) {
      const { result, error } = message;
      if (isObject(result)) return { ...message, result: renameResult(result, name.toClient, uri.toClient) };
      if (isObject(error) && isObject(error.data)) {
        return { ...message, error: { ...error, data: renameKeys(error.data, { uri: uri.toClient }) } };
      }
      return renameParams(message, name.toClient, uri.toClient);
    },
  };
}

type Rename = (value: string) => string;

function renameParams(message: JsonObject, name: Rename, uri: Rename): JsonObject {
  const { method, params } = message;
  if (typeof method !== "string" || !isObject(params)) return message;
  const isNamed = method === "tools/call" || method === "prompts/get";
  const changed = renameKeys(params, { ...(isNamed && { name }), uri });
  if (isObject(changed.ref)) changed.ref = renameKeys(changed.ref, { name, uri });
  const wanted = changed.notifications;
  if (isObject(wanted) && Array.isArray(wanted.resourceSubscriptions)) {
    changed.notifications = {
      ...wanted,
      resourceSubscriptions: wanted.resourceSubscriptions.map(renameText(uri)),
    };
  }
  return { ...message, params: changed };
}

function renameResult(result: JsonObject, name: Rename, uri: Rename): JsonObject {
  const changed = { ...result };
  const rows: [key: string, renames: Record<string, Rename>][] = [
    ["tools", { name }],
    ["prompts", { name }],
    ["resources", { uri }],
    ["resourceTemplates", { uriTemplate: uri }],
    ["contents", { uri }],
  ];
  for (const [key, renames] of rows) {
    const list = changed[key];
    if (Array.isArray(list))
      changed[key] = list.map((row) => (isObject(row) ? renameKeys(row, renames) : row));
  }
  return changed;
}

/** The header stays wrong where it was wrong: it is renamed by itself, not taken from the body. */
function renameHeader(message: JsonObject, headers: IncomingHttpHeaders, name: Mapping, uri: Mapping): void {
  const value = headers["mcp-name"];
  const mapping = { "tools/call": name, "prompts/get": name, "resources/read": uri }[String(message.method)];
  if (typeof value !== "string" || !mapping) return;
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  const plain = encoded === undefined ? value : Buffer.from(encoded, "base64").toString();
  const renamed = mapping.toServer(plain);
  const isPlain = encoded === undefined && /^[\x20-\x7e]*$/.test(renamed);
  headers["mcp-name"] = isPlain ? renamed : `=?base64?${Buffer.from(renamed).toString("base64")}?=`;
}

function renameKeys(object: JsonObject, renames: Record<string, Rename>): JsonObject {
  const changed = { ...object };
  for (const [key, rename] of Object.entries(renames)) {
    const value = changed[key];
    if (typeof value === "string") changed[key] = rename(value);
  }
  return changed;
}

function renameText(rename: Rename): (value: Json) => Json {
  return (value) => (typeof value === "string" ? rename(value) : value);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What is no JSON goes through as it is: the server shall say so. */
export function rewriteText(text: string, hook: (message: JsonObject) => JsonObject): string {
  let parsed: Json;
  try {
    parsed = JSON.parse(text) as Json;
  } catch {
    return text;
  }
  const rewrite = (value: Json) => (isObject(value) ? hook(value) : value);
  return JSON.stringify(Array.isArray(parsed) ? parsed.map(rewrite) : rewrite(parsed));
}

/** Event by event, so that nothing waits longer than it did; `id`, `event`, `retry` and comments stay as they are. */
export async function* rewriteEvents(
  chunks: AsyncIterable<Buffer>,
  hook: (message: JsonObject) => JsonObject,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of chunks) {
    const events = (rest + decoder.decode(chunk, { stream: true })).split(/(?<=\r?\n\r?\n)/);
    rest = events.at(-1)?.match(/\r?\n\r?\n$/) ? "" : (events.pop() ?? "");
    for (const event of events) yield rewriteEvent(event, hook);
  }
  if (rest) yield rewriteEvent(rest, hook);
}

function rewriteEvent(event: string, hook: (message: JsonObject) => JsonObject): string {
  return event.replace(/^data:(.*)$/gm, (line, data: string) => {
    const text = data.trim();
    return text.startsWith("{") || text.startsWith("[") ? `data: ${rewriteText(text, hook)}` : line;
  });
}
