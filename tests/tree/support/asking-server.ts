// A server of both eras as the official SDK's pages show one: it asks its user in the middle of a call.
//   node asking-server.ts [--http [--stateless]]
// Over HTTP it prints {"url"} and ends with its standard input; stateless is what the SDK does unless told otherwise.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  acceptedContent,
  createMcpHandler,
  fromJsonSchema,
  inputRequired,
  isLegacyRequest,
  McpServer,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { sendWebResponse, toWebRequest } from "../../conformance/fixture/web-bridge.ts";

function asking({ era }: { era: string }): McpServer {
  const server = new McpServer({ name: "asking", version: "1.0.0" });
  const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
  const inputSchema = fromJsonSchema<Record<string, unknown>>({ type: "object", properties: {} });
  const say = (text: string) => ({ content: [{ type: "text" as const, text }] });
  server.registerTool("greet", { inputSchema }, async (_args, ctx) => {
    const { content } = await ctx.mcpReq.elicitInput({ mode: "form", message: "Who?", requestedSchema });
    return say(`Hello, ${content?.name}`);
  });
  server.registerTool("invite", { inputSchema }, (_args, ctx) => {
    const name = acceptedContent(ctx.mcpReq.inputResponses, "guest")?.name;
    if (name !== undefined) return say(`Welcome, ${name}`);
    const guest = inputRequired.elicit({ message: "Who comes?", requestedSchema });
    return inputRequired({ inputRequests: { guest } });
  });
  server.registerTool("where", { inputSchema }, () => say(`${era} ${process.pid}`));
  const late = server.registerTool("late", { inputSchema }, () => say("here I am"));
  late.disable();
  server.registerTool("grow", { inputSchema }, () => {
    late.enable();
    return say("grown");
  });
  server.registerTool("crash", { inputSchema }, () => process.exit(3));
  return server;
}

if (process.argv.includes("--http")) {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const isStateless = process.argv.includes("--stateless");
  const modern = createMcpHandler(asking, isStateless ? {} : { legacy: "reject" });
  const legacy = async (request: Request): Promise<Response> => {
    const known = sessions.get(request.headers.get("mcp-session-id") ?? "");
    if (known !== undefined) return known.handleRequest(request);
    const transport: WebStandardStreamableHTTPServerTransport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await asking({ era: "legacy" }).connect(transport);
    return transport.handleRequest(request);
  };
  const http = createServer(async (incoming, outgoing) => {
    const request = toWebRequest(incoming, outgoing);
    const isKept = !isStateless && (await isLegacyRequest(request));
    const response = isKept ? await legacy(request) : await modern.fetch(request);
    await sendWebResponse(response, outgoing);
  });
  http.listen(0, "127.0.0.1", () => {
    const { port } = http.address() as AddressInfo;
    process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` })}\n`);
  });
  process.stdin.resume().once("end", () => process.exit(0));
} else {
  serveStdio(asking);
}
