// The aggregator's side of `/ax` over real sockets, doing what a test tells it: WebSocket and HTTP.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout } from "node:timers/promises";
import { deadlineMs, isObject, type JsonObject, leaseMs } from "@mcpx/protocol";
import { type WebSocket, WebSocketServer } from "ws";

/** What is answered: a result, an error, or nothing at all. */
export type Answer = { result: JsonObject } | { error: JsonObject } | undefined;
/** `usual` is what an aggregator would do. */
type Script = (
  params: JsonObject,
  visit: Visit,
  usual: () => Answer | Promise<Answer>,
) => Answer | Promise<Answer>;

interface Visit {
  readonly headers: IncomingMessage["headers"];
  /** Everything it said, in order. */
  readonly heard: JsonObject[];
  /** What it answered when it was asked for its parent, before it was registered. */
  parent: unknown;
  /** Over HTTP: what each later message came with. */
  readonly posted: { session: unknown; authorization: unknown }[];
  isOpen: boolean;
  send(message: unknown): void;
  /** As text, whatever it is. */
  sendText(text: string): void;
  /** Asks it something; resolves with the whole answer. */
  ask(method: string, params?: JsonObject): Promise<JsonObject>;
  close(code?: number, reason?: string): void;
  /** Over HTTP: what it POSTs is not known any more, while its stream stays. */
  forget(): void;
}

export interface Aggregator {
  readonly id: string;
  readonly url: string;
  readonly visits: Visit[];
  /** By method; what is not scripted is answered as an aggregator would. */
  readonly script: Record<string, Script | undefined>;
  /** How often it was asked this. */
  count(method: string): number;
  close(): Promise<void>;
}

export interface AggregatorOptions {
  heartbeatMs?: number;
  leaseMs?: number;
  port?: number;
  /** Answered to every request, whatever it is. */
  status?: number;
  body?: JsonObject;
  /** How long the next message over HTTP is on its way. */
  delayMs?: () => number;
}

export const refusal = (reason: string, more: JsonObject = {}): Answer => ({
  error: { code: 40_900, message: reason, data: { reason, ...more } },
});

let lastId = 0;

export async function startAggregator(options: AggregatorOptions = {}): Promise<Aggregator> {
  const { heartbeatMs = 1_000, port = 0, status, body, delayMs } = options;
  lastId += 1;
  const id = `00000000-0000-4000-8000-${String(lastId).padStart(12, "0")}`;
  const visits: Visit[] = [];
  const posts = new Map<
    string,
    { visit: Visit; take(message: JsonObject, reply: (answer?: JsonObject) => void): Promise<void> }
  >();

  const usual: Record<string, (params: JsonObject, visit: Visit) => Answer | Promise<Answer>> = {
    "mcpax/register": async ({ segment, heartbeat_interval_ms }, visit) => {
      visit.parent = (await visit.ask("mcpax/parent")).result;
      const interval = heartbeat_interval_ms === 0 ? 0 : heartbeatMs;
      const lease = interval === 0 ? 0 : (options.leaseMs ?? leaseMs(interval));
      return {
        result: {
          status: "registered",
          assigned_segment: segment,
          session_id: `session-${visits.indexOf(visit)}`,
          heartbeat_interval_ms: interval,
          heartbeat_deadline_ms: Math.max(deadlineMs(interval), lease),
          lease_ms: lease,
          aggregator_id: id,
          epoch: visits.length,
        },
      };
    },
    "mcpax/heartbeat": () => ({ result: { status: "alive" } }),
    "mcpax/update": () => ({ result: { status: "updated" } }),
    "mcpax/deregister": () => ({ result: { status: "deregistered" } }),
  };
  const script: Record<string, Script | undefined> = {};

  function createVisit(headers: IncomingMessage["headers"], out: Pick<Visit, "sendText" | "close">) {
    const asked = new Map<unknown, (answer: JsonObject) => void>();
    let count = 0;
    const visit: Visit = {
      headers,
      heard: [],
      parent: undefined,
      posted: [],
      isOpen: true,
      sendText: (text) => out.sendText(text),
      send: (message) => out.sendText(JSON.stringify(message)),
      close: (code, reason) => out.close(code, reason),
      forget: () => posts.clear(),
      ask(method, params = {}) {
        count += 1;
        const { promise, resolve } = Promise.withResolvers<JsonObject>();
        asked.set(count, resolve);
        visit.send({ jsonrpc: "2.0", id: count, method, params });
        return promise;
      },
    };
    visits.push(visit);
    async function take(message: JsonObject, reply: (answer?: JsonObject) => void): Promise<void> {
      visit.heard.push(message);
      const { id: requestId, method, params } = message;
      if (typeof method !== "string" || requestId === undefined) {
        if (method === undefined) asked.get(requestId)?.(message);
        reply();
        return;
      }
      const given = isObject(params) ? params : {};
      const unknown: Answer = { error: { code: -32601, message: "Method not found" } };
      const asUsual = () => usual[method]?.(given, visit) ?? unknown;
      const scripted = script[method];
      const answer = await (scripted === undefined ? asUsual() : scripted(given, visit, asUsual));
      if (answer !== undefined) reply({ jsonrpc: "2.0", id: requestId, ...answer });
    }
    return { visit, take };
  }

  function serveSocket(socket: WebSocket, request: IncomingMessage): void {
    const { visit, take } = createVisit(request.headers, {
      sendText: (text) => socket.send(text),
      close: (code, reason) => (code === undefined ? socket.terminate() : socket.close(code, reason)),
    });
    const reply = (answer?: JsonObject) => {
      if (answer !== undefined && visit.isOpen) visit.send(answer);
    };
    socket.on("message", (data) => void take(JSON.parse(String(data)), reply));
    socket.on("close", () => {
      visit.isOpen = false;
    });
  }

  async function servePost(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (status !== undefined) return void response.writeHead(status).end(body && JSON.stringify(body));
    let text = "";
    for await (const chunk of request) text += chunk;
    const message: JsonObject = JSON.parse(text);
    if (delayMs !== undefined) await setTimeout(delayMs());
    const session = request.headers["mcpax-session"];
    if (session !== undefined) {
      const post = posts.get(String(session));
      if (post === undefined) return void response.writeHead(404).end();
      const isRequest = message.method !== undefined && message.id !== undefined;
      const json = { "content-type": "application/json" };
      post.visit.posted.push({ session, authorization: request.headers.authorization });
      void post.take(message, (answer) => {
        if (isRequest) response.writeHead(200, json).end(JSON.stringify(answer));
        else response.writeHead(202).end();
      });
      return;
    }
    const name = `session-${visits.length}`;
    response.writeHead(200, { "content-type": "text/event-stream", "mcpax-session": name });
    const { visit, take } = createVisit(request.headers, {
      sendText: (event) => void response.write(`event: message\ndata: ${event}\n\n`),
      close: (code) => (code === undefined ? response.destroy() : response.end()),
    });
    posts.set(name, { visit, take });
    response.on("close", () => {
      visit.isOpen = false;
      posts.delete(name);
    });
    void take(message, (answer) => answer !== undefined && visit.isOpen && visit.send(answer));
  }

  const server = createServer((request, response) => void servePost(request, response));
  const sockets = new WebSocketServer({ noServer: true });
  server.on("upgrade", (request, socket, head) => {
    if (status !== undefined) return void socket.end(`HTTP/1.1 ${status} No\r\nconnection: close\r\n\r\n`);
    sockets.handleUpgrade(request, socket, head, (opened) => serveSocket(opened, request));
  });
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    id,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    visits,
    script,
    count: (method) => visits.flatMap(({ heard }) => heard).filter((said) => said.method === method).length,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
