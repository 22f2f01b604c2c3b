// A stdio MCP server that judges results: the word "secret" is masked in them. Definitions of tools pass.
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const server = new Server({ name: "guard", version: "1.0.0" }, { capabilities: { tools: {} } });
const annotations = { readOnlyHint: true };

server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [{ name: "scan", annotations, inputSchema: { type: "object" as const } }],
}));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const { result } = params.arguments as { result?: { content: { text: string }[] } };
  if (result === undefined) return { content: [{ type: "text", text: '{"verdict":"pass"}' }] };
  const content = result.content.map((part) => ({ ...part, text: part.text.replaceAll("secret", "▒▒▒") }));
  const text = JSON.stringify({ verdict: "mask", result: { content }, reason: "a secret" });
  return { content: [{ type: "text", text }] };
});
await server.connect(new StdioServerTransport());
