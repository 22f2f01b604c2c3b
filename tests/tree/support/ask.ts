// A client made of nothing but `fetch`: modern requests, and legacy sessions, with every text as it came.
import { canonicalUrl } from "../../support/canonical-url.ts";

/** biome-ignore lint/suspicious/noExplicitAny: tests look into messages of any shape */
export type Message = any;

export interface Place {
  /** Of the tree's endpoint. */
  url: string;
  token: string;
}

export interface Heard {
  status: number;
  headers: Headers;
  /** Every message of the answer as it came, notifications and questions included. */
  texts: string[];
  /** The last one, read. */
  message: Message;
}

export interface AskOptions {
  id?: number | string;
  capabilities?: object;
  meta?: object;
  headers?: Record<string, string>;
  /** The request's text instead of one made here. */
  body?: string;
  signal?: AbortSignal;
}

export const revision = "2026-07-28";
let lastId = 0;

/** One modern request. */
export function ask(
  place: Place,
  method: string,
  params: object = {},
  options: AskOptions = {},
): Promise<Heard> {
  lastId += 1;
  const { id = lastId, capabilities = {}, meta = {}, headers = {}, signal } = options;
  const { name, uri } = params as { name?: string; uri?: string };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
    ...meta,
  };
  const body = options.body ?? JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
  const named = name ?? uri;
  return post(
    place,
    body,
    {
      "mcp-protocol-version": revision,
      "mcp-method": method,
      ...(named !== undefined && { "mcp-name": named }),
      ...headers,
    },
    signal,
  );
}

export function callTool(
  place: Place,
  name: string,
  args: object = {},
  options: AskOptions = {},
): Promise<Heard> {
  return ask(place, "tools/call", { name, arguments: args }, options);
}

/** The first text of a tool's result. */
export function textOf({ message }: Heard): string {
  return message.result?.content?.[0]?.text ?? `none: ${JSON.stringify(message)}`;
}

export async function post(
  { url, token }: Place,
  body: string,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<Heard> {
  const response = await fetch(canonicalUrl(url), {
    method: "POST",
    body,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      ...headers,
    },
    ...(signal && { signal }),
  });
  const text = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  const texts = isStream ? eventTexts(text) : text === "" ? [] : [text];
  const last = texts.at(-1);
  return {
    status: response.status,
    headers: response.headers,
    texts,
    message: last === undefined ? undefined : JSON.parse(last),
  };
}

function eventTexts(stream: string): string[] {
  return (
    stream
      .split("\n\n")
      // Not `.+`: the separators U+2028 and U+2029 may be in a text and end no line of a stream.
      .flatMap((block) => /^data: ?([^\n]+)/m.exec(block)?.[1] ?? [])
      .filter((data) => data !== "")
  );
}

export interface Session {
  id: string;
  send(body: string, signal?: AbortSignal): Promise<Heard>;
  request(method: string, params?: object, id?: number | string): Promise<Heard>;
}

/** A legacy session. */
export async function openSession(place: Place, capabilities: object = {}): Promise<Session> {
  const params = { protocolVersion: "2025-11-25", capabilities, clientInfo: { name: "raw", version: "1" } };
  const hello = await post(place, JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }));
  const id = hello.headers.get("mcp-session-id") ?? "";
  const headers = { "mcp-session-id": id, "mcp-protocol-version": "2025-11-25" };
  const send: Session["send"] = (body, signal) => post(place, body, headers, signal);
  await send(JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" }));
  let last = 0;
  return {
    id,
    send,
    request(method, params = {}, given) {
      last += 1;
      return send(JSON.stringify({ jsonrpc: "2.0", id: given ?? last, method, params }));
    },
  };
}
