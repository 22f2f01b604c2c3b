// A listener with the tree's HTTP endpoint, a scripted tree behind it, and tokens to enter with.
import {
  createIdentity,
  createListener,
  createLogger,
  createSqliteIdentityStore,
  openState,
  systemClock,
  type TokenClaims,
} from "@mcpx/host";
import { defaultLimits, type JsonObject, type Limits } from "@mcpx/protocol";
import { afterEach, expect, vi } from "vitest";
import {
  createHttpEndpoint,
  type HttpEndpointOptions,
} from "../../../packages/aggregator/src/endpoints/http.ts";
import { createScriptedTree } from "./scripted-tree.ts";

const closers: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export interface OpenOptions {
  limits?: Partial<Limits>;
  endpoint?: Partial<HttpEndpointOptions>;
}

export async function openEndpoint(options: OpenOptions = {}) {
  const limits = { ...defaultLimits, ...options.limits };
  const logged: string[] = [];
  const log = createLogger({ level: "warn", destination: { write: (line) => void logged.push(line) } });
  const clock = options.endpoint?.clock ?? systemClock;
  const db = openState(":memory:");
  const identity = await createIdentity({ store: createSqliteIdentityStore(db), clock, log });
  const tree = createScriptedTree();
  const endpoint = createHttpEndpoint({
    tree,
    identity,
    log,
    clock,
    limits,
    issuers: [],
    profiles: new Map(),
    pulseMs: 10,
    ...options.endpoint,
  });
  const listener = createListener({ host: "127.0.0.1", port: 0, limits, log });
  const { url, port } = await listener.start(endpoint.routes);
  const mint = async (id: string, ttlMs = 3_600_000, claims: Partial<TokenClaims> = {}) =>
    identity.tokens.mint({ sub: id, topics: [], tools: ["**"], ...claims }, { ttlMs });
  const { token } = await mint("alice");
  closers.push(async () => {
    await endpoint.drain({ graceMs: 0 });
    await listener.close({ graceMs: 0 });
    identity.close();
    db.close();
  });
  return { url: `${url}/mcp`, origin: url, port, tree, endpoint, identity, mint, token, logged };
}

export type OpenEndpoint = Awaited<ReturnType<typeof openEndpoint>>;

export const accept = "application/json, text/event-stream";

/** A POST as a client sends it, whatever the body. */
export function post(
  { url, token }: Pick<OpenEndpoint, "url" | "token">,
  body: unknown,
  headers: Record<string, string> = {},
  init: RequestInit = {},
): Promise<Response> {
  return fetch(url, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { authorization: `Bearer ${token}`, accept, "content-type": "application/json", ...headers },
    ...init,
  });
}

export const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

export interface ModernCall {
  id?: unknown;
  meta?: JsonObject;
  headers?: Record<string, string>;
  init?: RequestInit;
}

/** A modern request with all its headers. */
export function call(
  endpoint: Pick<OpenEndpoint, "url" | "token">,
  method: string,
  params: JsonObject = {},
  { id = 1, meta = {}, headers = {}, init = {} }: ModernCall = {},
): Promise<Response> {
  const name = params.name ?? params.uri;
  const body = { jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...modernMeta, ...meta } } };
  const mcp = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
  };
  return post(endpoint, body, { ...mcp, ...headers }, init);
}

export async function json(response: Response): Promise<JsonObject> {
  expect(response.headers.get("content-type")).toContain("application/json");
  return (await response.json()) as JsonObject;
}

export interface SseEvent {
  id: string | undefined;
  data: string;
  retry: string | undefined;
}

/** Events of a stream, one at a time. */
export function events(response: Response) {
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const read = async (): Promise<SseEvent | undefined> => {
    for (;;) {
      const end = rest.indexOf("\n\n");
      if (end !== -1) {
        const block = rest.slice(0, end);
        rest = rest.slice(end + 2);
        const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, "m").exec(block)?.[1];
        const data = field("data");
        if (data !== undefined) return { id: field("id"), data, retry: field("retry") };
        continue;
      }
      const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
      if (done) return undefined;
      rest += value;
    }
  };
  return {
    read,
    /** The next message, primers passed over. */
    async message(): Promise<JsonObject> {
      for (;;) {
        const event = await read();
        if (event === undefined) throw new Error("the stream is over");
        if (event.data !== "") return JSON.parse(event.data);
      }
    },
    async rest(): Promise<JsonObject[]> {
      const messages: JsonObject[] = [];
      for (let event = await read(); event !== undefined; event = await read()) {
        if (event.data !== "") messages.push(JSON.parse(event.data));
      }
      return messages;
    },
    cancel: () => reader?.cancel(),
  };
}

export function initializeBody(protocolVersion = "2025-11-25", capabilities: JsonObject = {}) {
  const params = { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } };
  return { jsonrpc: "2.0", id: 0, method: "initialize", params };
}

/** A legacy session: what to send with every request. */
export async function openSession(
  endpoint: Pick<OpenEndpoint, "url" | "token">,
  protocolVersion = "2025-11-25",
  capabilities: JsonObject = {},
) {
  const response = await post(endpoint, initializeBody(protocolVersion, capabilities));
  const id = response.headers.get("mcp-session-id") ?? "";
  const headers = { "mcp-session-id": id, "mcp-protocol-version": protocolVersion };
  const result = (await json(response)).result as JsonObject;
  const notified = await post(endpoint, { jsonrpc: "2.0", method: "notifications/initialized" }, headers);
  expect(notified.status).toBe(202);
  return {
    id,
    headers,
    result,
    send: (body: unknown, init?: RequestInit) => post(endpoint, body, headers, init),
  };
}

export const request = (id: unknown, method: string, params: JsonObject = {}) => ({
  jsonrpc: "2.0",
  id,
  method,
  params,
});

export const tool = (id: unknown, name: string, more: JsonObject = {}) =>
  request(id, "tools/call", { name, arguments: {}, ...more });

/** Polls until it holds. */
export const until = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: 10_000, interval: 10 });

export const contentOf = (message: JsonObject): string =>
  ((message.result as JsonObject).content as { text: string }[])[0]?.text ?? "";
