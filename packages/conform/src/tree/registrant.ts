// A subserver as the draft has it, over the WebSocket `/ax`: it registers, answers MCP, and notes what it is asked.
import { randomUUID } from "node:crypto";
import WebSocket from "ws";
import type { Seen } from "../rooms/room-member.ts";
import type { Target } from "../target.ts";

const waitMs = 10_000;

export interface RpcAnswer {
  result?: Seen;
  error?: { code: number; message: string; data?: Seen };
}

export interface Registrant extends AsyncDisposable {
  /** What `tools/call` brought, params as they came. */
  readonly calls: Seen[];
  ask(method: string, params: object): Promise<RpcAnswer>;
  tell(method: string, params: object): void;
  /** Drops the connection without a word. */
  vanish(): void;
}

export interface RegistrantOptions {
  token: string | undefined;
  tools: readonly object[];
  result?: object;
}

export async function openRegistrant({ url }: Target, options: RegistrantOptions): Promise<Registrant> {
  const { token, tools, result = { content: [{ type: "text", text: "done" }] } } = options;
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const ws = new WebSocket(`${url.replace("http", "ws")}/ax`, { headers });
  const waiting = new Map<number, (answer: RpcAnswer) => void>();
  const calls: Seen[] = [];
  const answers: Record<string, (params: Seen) => object> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "conform", version: "1" },
    }),
    ping: () => ({}),
    "tools/list": () => ({ tools }),
    "tools/call": (params) => {
      calls.push(params);
      return result;
    },
    "mcpax/parent": () => ({ parent_id: null }),
  };
  const hear = ({ id, method, params, ...answer }: Seen) => {
    if (method === undefined) return waiting.get(id)?.(answer);
    if (id === undefined) return;
    const reply = answers[method]?.(params ?? {});
    const error = { code: -32601, message: `${method} is unknown here` };
    ws.send(JSON.stringify({ jsonrpc: "2.0", id, ...(reply === undefined ? { error } : { result: reply }) }));
  };
  ws.on("message", (data) => hear(JSON.parse(String(data))));
  await opened(ws);
  let last = 0;
  return {
    calls,
    async ask(method, params) {
      last += 1;
      const id = last;
      ws.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return await answered(ws, method, (resolve) => waiting.set(id, resolve));
    },
    tell: (method, params) => ws.send(JSON.stringify({ jsonrpc: "2.0", method, params })),
    vanish: () => ws.terminate(),
    async [Symbol.asyncDispose]() {
      ws.close();
      ws.terminate();
    },
  };
}

/** The draft's own example, for another segment and server. */
export function registration(segment: string, more: object = {}): object {
  return {
    subserver_id: randomUUID(),
    segment,
    capabilities: { tools: true, resources: false, notifications: true },
    heartbeat_interval_ms: 5_000,
    transport_class: "uart_cbor",
    version: "2026-05-01",
    ...more,
  };
}

/** An upgrade that is refused throws with its HTTP status. */
async function opened(ws: WebSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    ws.once("open", () => resolve());
    ws.once("error", reject);
    ws.once("unexpected-response", (_request, { statusCode }) =>
      reject(new Error(`the upgrade of /ax was answered with ${statusCode}`)),
    );
  });
  ws.on("error", () => {});
}

async function answered(
  ws: WebSocket,
  method: string,
  listen: (resolve: (answer: RpcAnswer) => void) => void,
): Promise<RpcAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RpcAnswer>();
  const timer = setTimeout(
    () => reject(new Error(`${method} was not answered in ${waitMs / 1_000} s`)),
    waitMs,
  );
  const closed = (code: number) => reject(new Error(`closed with ${code} before ${method} was answered`));
  ws.once("close", closed);
  listen(resolve);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    ws.off("close", closed);
  }
}
