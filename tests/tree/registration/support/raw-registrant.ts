// A stranger's registrant, made of nothing but a WebSocket: it says exactly what a test wants it to say.
import { randomUUID } from "node:crypto";
import { harmless } from "@mcpx/protocol";
import { WebSocket } from "ws";

/** biome-ignore lint/suspicious/noExplicitAny: tests look into messages of any shape */
export type Message = any;

export interface RawOptions {
  tools?: readonly object[];
  /** A page of its tools, instead of those. */
  list?(cursor: string | undefined): object;
  /** What it answers to a call; the arguments as text unless given. */
  call?(params: Message): object | Promise<object>;
  /** What `mcpax/parent` is answered with; `undefined` is silence. */
  parentId?: unknown;
  /** Its servers' capabilities. */
  capabilities?: object;
  /** What it tells every client of itself. */
  instructions?: string;
  /** Of the legacy era: it knows `initialize` and not `server/discover`. */
  isLegacy?: boolean;
  /** What other methods are answered with. */
  answers?: Record<string, object>;
  /** PEM texts, where it comes over TLS. */
  tls?: { ca?: string; cert?: string; key?: string } | undefined;
}

export interface RawRegistrant {
  readonly socket: WebSocket;
  /** Requests that came from the aggregator, oldest first. */
  readonly asked: Message[];
  readonly closed: Promise<{ code: number; reason: string }>;
  request(method: string, params?: object): Promise<Message>;
  register(more?: object): Promise<Message>;
  notify(method: string, params?: object): void;
  /** Goes without a word. */
  cut(): void;
  /** Says nothing any more, and keeps the connection. */
  isSilent: boolean;
}

export const dangerous = {
  ...harmless,
  mutable: true,
  reversible: false,
  auth_scope: "write",
  cost_class: "metered",
};

export function toolOf(name: string, capability: object = harmless): object {
  return { name, inputSchema: { type: "object" }, _meta: { "x-mcpax-capability": capability } };
}

export function registrationOf(segment: string, more: object = {}): object {
  return {
    subserver_id: randomUUID(),
    segment,
    capabilities: { tools: true, resources: false, prompts: false, notifications: true },
    heartbeat_interval_ms: 0,
    transport_class: "websocket",
    version: "2026-05-01",
    ...more,
  };
}

export async function rawRegistrant(
  url: string,
  token: string | undefined,
  options: RawOptions = {},
): Promise<RawRegistrant> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ax`, { headers, ...options.tls });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on("close", (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await new Promise<void>((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
    socket.once("unexpected-response", (_request, response) =>
      reject(new Error(String(response.statusCode))),
    );
  });
  const waiting = new Map<string, (message: Message) => void>();
  const asked: Message[] = [];
  let lastId = 0;
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));

  const ownFacts = () => ({
    capabilities: options.capabilities ?? { tools: { listChanged: true } },
    ...(options.instructions !== undefined && { instructions: options.instructions }),
  });

  async function answer({ id, method, params }: Message): Promise<void> {
    if (id === undefined || registrant.isSilent) return;
    if (method === "mcpax/parent") {
      if (options.parentId !== undefined) send({ id, result: { parent_id: options.parentId } });
    } else if (options.answers?.[method] !== undefined) {
      send({ id, result: { resultType: "complete", ...options.answers[method] } });
    } else if (method === "initialize" && options.isLegacy) {
      const serverInfo = { name: "raw", version: "1" };
      send({ id, result: { protocolVersion: params.protocolVersion, serverInfo, ...ownFacts() } });
    } else if (method === "server/discover" && !options.isLegacy) {
      const supportedVersions = ["2026-07-28"];
      send({ id, result: { resultType: "complete", supportedVersions, ...ownFacts() } });
    } else if (method === "subscriptions/listen") {
      send({
        method: "notifications/subscriptions/acknowledged",
        params: {
          notifications: params.notifications,
          _meta: { "io.modelcontextprotocol/subscriptionId": id },
        },
      });
    } else if (method === "tools/list")
      send({
        id,
        result: {
          resultType: "complete",
          ...(options.list?.(params.cursor) ?? { tools: options.tools ?? [] }),
        },
      });
    else if (method === "tools/call") {
      const result = (await options.call?.(params)) ?? {
        content: [{ type: "text", text: JSON.stringify(params) }],
      };
      if (!registrant.isSilent) send({ id, result: { resultType: "complete", ...result } });
    } else send({ id, error: { code: -32601, message: "Method not found" } });
  }

  socket.on("message", (data) => {
    const message = JSON.parse(String(data));
    if (message.method === undefined) {
      waiting.get(String(message.id))?.(message);
      waiting.delete(String(message.id));
    } else {
      asked.push(message);
      void answer(message);
    }
  });

  const registrant: RawRegistrant = {
    socket,
    asked,
    closed,
    isSilent: false,
    request(method, params = {}) {
      lastId += 1;
      const id = `own-${lastId}`;
      const { promise, resolve } = Promise.withResolvers<Message>();
      waiting.set(id, resolve);
      send({ id, method, params });
      return promise;
    },
    register: (params = {}) => registrant.request("mcpax/register", params),
    notify: (method, params = {}) => send({ method, params }),
    cut: () => socket.terminate(),
  };
  return registrant;
}
