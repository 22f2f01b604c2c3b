// A stdio MCP server whose answers are worth looking at before an agent sees them. Each call leaves a line in a file.
// As a command: node archive.ts FILE
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [, , file = ""] = process.argv;
const server = new Server({ name: "archive", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = { type: "object" as const };
const annotations = { readOnlyHint: true };
const tools = ["salary", "broken", "huge", "plain"].map((name) => ({
  ...{ name, description: `Reads ${name}`, annotations, inputSchema },
}));

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  appendFileSync(file, `${params.name} ${JSON.stringify(params.arguments ?? {})}\n`);
  if (params.name === "broken") throw new Error("broken-secret");
  const text = params.name === "huge" ? "x".repeat(2_000_000) : "<b>the-secret is</b>\n12345.0\u001b[2J";
  return { content: [{ type: "text", text }], structuredContent: { note: "the-secret", n: 1 } };
});
await server.connect(new StdioServerTransport());
