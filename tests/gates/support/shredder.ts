// A stdio MCP server whose tools leave traces in a file, one line for each call: what happened can be counted.
// As a command: node shredder.ts FILE
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [, , file = ""] = process.argv;
const server = new Server({ name: "shredder", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = { type: "object" as const };
const tools = [
  { name: "shred", description: "Shreds a paper", annotations: { destructiveHint: true }, inputSchema },
  {
    name: "stall",
    description: "Begins, and never ends",
    annotations: { destructiveHint: true },
    inputSchema,
  },
  { name: "look", description: "Looks at a paper", annotations: { readOnlyHint: true }, inputSchema },
  { name: "mute", description: "Says nothing of itself", inputSchema },
];

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  appendFileSync(file, `${params.name} ${JSON.stringify(params.arguments ?? {})}\n`);
  if (params.name === "stall") await new Promise(() => {});
  return { content: [{ type: "text", text: `${params.name} is done` }] };
});
await server.connect(new StdioServerTransport());
