// The server behind every hop, in a process of its own: one tool that says back what it was given, with no SDK, so that
// its own cost is small. `backend.ts http|stdio modern|legacy`; "modern" speaks both eras, "legacy" only the old one.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

interface Message {
  id?: number | string;
  method?: string;
  params?: { arguments?: { text?: string }; _meta?: Record<string, unknown> };
}

const modernRevision = "2026-07-28";
const legacyRevision = "2025-06-18";
const isModernSpoken = process.argv[3] !== "legacy";
const info = { name: "bench", version: "1.0.0" };
const tool = {
  name: "echo",
  description: "Says it back.",
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  annotations: { readOnlyHint: true },
};

function resultOf({ method, params }: Message): Record<string, unknown> | undefined {
  const isModern = isModernSpoken && params?._meta?.["io.modelcontextprotocol/protocolVersion"] !== undefined;
  const kept = isModern ? { resultType: "complete", ttlMs: 60_000, cacheScope: "private" } : {};
  switch (method) {
    case "tools/call": {
      const content = [{ type: "text", text: params?.arguments?.text }];
      return isModern ? { content, resultType: "complete" } : { content };
    }
    case "tools/list":
      return { tools: [tool], ...kept };
    case "server/discover": {
      const _meta = { "io.modelcontextprotocol/serverInfo": info };
      const supportedVersions = [modernRevision, legacyRevision];
      return isModern ? { supportedVersions, capabilities: { tools: {} }, _meta, ...kept } : undefined;
    }
    case "initialize":
      return { protocolVersion: legacyRevision, capabilities: { tools: {} }, serverInfo: info };
    case "ping":
      return {};
    default:
      return undefined;
  }
}

/** Undefined for what wants no answer. */
function answer(message: Message): string | undefined {
  const { id, method } = message;
  if (id === undefined || method === undefined) return undefined;
  const result = resultOf(message);
  if (result !== undefined) return JSON.stringify({ jsonrpc: "2.0", id, result });
  return JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32601, message: `no method ${method}` } });
}

function serveStdio(): void {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    let out = "";
    for (const line of lines) {
      const text = line.trim() === "" ? undefined : answer(JSON.parse(line));
      if (text !== undefined) out += `${text}\n`;
    }
    if (out !== "") process.stdout.write(out);
  });
  process.stdin.on("end", () => process.exit(0));
}

const sessions = new Set<string>();

function serveHttp(): void {
  const server = createServer((request, response) => {
    if (request.method !== "POST") {
      response.writeHead(request.method === "DELETE" ? 200 : 405).end();
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => post(request, response, JSON.parse(Buffer.concat(chunks).toString("utf8"))));
  });
  // Hops keep their connections through the others' turns.
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1", () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
  });
  process.on("disconnect", () => process.exit(0));
}

function post({ headers }: IncomingMessage, response: ServerResponse, message: Message): void {
  const session: Record<string, string> = {};
  if (message.method === "initialize") {
    const id = randomUUID();
    sessions.add(id);
    session["mcp-session-id"] = id;
  } else if (!isModernSpoken && !sessions.has(String(headers["mcp-session-id"]))) {
    // What a server of that era says to a client of the next.
    const error = { code: -32000, message: "Bad Request: no session" };
    send(response, 400, JSON.stringify({ jsonrpc: "2.0", id: null, error }), session);
    return;
  }
  const text = answer(message);
  if (text === undefined) response.writeHead(202, session).end();
  else send(response, 200, text, session);
}

function send(response: ServerResponse, status: number, text: string, session: Record<string, string>): void {
  const length = Buffer.byteLength(text);
  response
    .writeHead(status, { "content-type": "application/json", "content-length": length, ...session })
    .end(text);
}

if (process.argv[2] === "stdio") serveStdio();
else serveHttp();
