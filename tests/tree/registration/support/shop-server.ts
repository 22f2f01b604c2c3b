// A server that an operator has configured: it tells models how to use it, and has a resource that others claim too.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";

const server = new McpServer({ name: "shop", version: "1" }, { instructions: "The shop opens at nine." });
server.registerTool("open", { description: "Whether the shop is open." }, () => ({ content: [] }));
server.registerResource("price", "shop:///price", {}, ({ href }) => ({
  contents: [{ uri: href, text: "three crowns" }],
}));
await server.connect(new StdioServerTransport());
