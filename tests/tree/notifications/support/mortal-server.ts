// An MCP server over HTTP that can die and come back at the same address, in either era.
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface MortalServer {
  readonly url: string;
  /** Says something unasked. */
  say(method: string, params: object): void;
  /** Every connection ends, and nobody listens at its address. */
  die(): Promise<void>;
  comeBack(): Promise<void>;
}

/** biome-ignore lint/suspicious/noExplicitAny: requests of any shape */
type Message = any;

const tools = [{ name: "t", inputSchema: { type: "object" } }];

export async function startMortal(era: "legacy" | "modern"): Promise<MortalServer> {
  const streams = new Map<ServerResponse, unknown>();
  let server: Server;
  let port = 0;

  const write = (response: ServerResponse, message: object) =>
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  const stream = (response: ServerResponse, id: unknown) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    streams.set(response, id);
    response.on("close", () => streams.delete(response));
  };

  function answer(response: ServerResponse, { id, method, params }: Message): void {
    const send = (body: object, headers = {}) =>
      response
        .writeHead(200, { "content-type": "application/json", ...headers })
        .end(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    const capabilities = { tools: { listChanged: true }, logging: {} };
    if (id === undefined) response.writeHead(202).end();
    else if (method === "server/discover" && era === "modern") {
      send({ result: { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities } });
    } else if (method === "initialize" && era === "legacy") {
      const result = {
        protocolVersion: "2025-11-25",
        capabilities,
        serverInfo: { name: "mortal", version: "1" },
      };
      send({ result }, { "mcp-session-id": "one" });
    } else if (method === "subscriptions/listen" && era === "modern") {
      stream(response, id);
      const _meta = { "io.modelcontextprotocol/subscriptionId": id };
      const { notifications } = params;
      write(response, {
        method: "notifications/subscriptions/acknowledged",
        params: { notifications, _meta },
      });
    } else if (method === "tools/list") send({ result: { resultType: "complete", tools } });
    else send({ error: { code: -32601, message: "Method not found" } });
  }

  async function open(): Promise<void> {
    server = createServer(async (request, response) => {
      if (request.method === "GET" && era === "legacy") stream(response, undefined);
      else if (request.method !== "POST") response.writeHead(405).end();
      else answer(response, JSON.parse(await text(request)));
    });
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  }

  await open();
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    say(method, params) {
      for (const [response, id] of streams) {
        const _meta = id === undefined ? {} : { "io.modelcontextprotocol/subscriptionId": id };
        write(response, { method, params: { ...params, _meta } });
      }
    },
    async die() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
    comeBack: open,
  };
}
