// A stdio MCP server with one tool that cannot be undone, whose schema calls one of its arguments secret.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "locksmith", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = {
  type: "object" as const,
  properties: { owner: { type: "string" }, word: { type: "string", format: "password" } },
};
const tools = [
  { name: "unlock", description: "Unlocks", annotations: { destructiveHint: true }, inputSchema },
];

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: "text", text: "unlocked" }] }));
await server.connect(new StdioServerTransport());
