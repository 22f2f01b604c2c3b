// A stdio MCP server with a tool for everything a client must be able to show: text, a form, a picture, an error, and two
// that cannot be undone and leave a line in a file. As a command: node desk-server.ts FILE
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [, , file = ""] = process.argv;
const server = new Server({ name: "desk", version: "1.0.0" }, { capabilities: { tools: {} } });
const inputSchema = { type: "object" as const, properties: { paper: { type: "string" } } };
const outputSchema = {
  type: "object" as const,
  properties: { pages: { type: "number" } },
  required: ["pages"],
};
const harmless = { readOnlyHint: true };
const final = { destructiveHint: true };
const tools = [
  { name: "look", description: "Looks at a paper", annotations: harmless, inputSchema },
  { name: "count", description: "Counts pages", annotations: harmless, inputSchema, outputSchema },
  { name: "picture", description: "A picture of a paper", annotations: harmless, inputSchema },
  { name: "tear", description: "Fails", annotations: harmless, inputSchema },
  { name: "shred", description: "Shreds a paper", annotations: final, inputSchema },
  { name: "shred.all", description: "Shreds, and counts", annotations: final, inputSchema, outputSchema },
];
const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });
const pages = (count: number) => ({ ...text(`${count} pages`), structuredContent: { pages: count } });

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  const paper = String(params.arguments?.paper);
  if (params.name.startsWith("shred")) appendFileSync(file, `${params.name} ${paper}\n`);
  switch (params.name) {
    case "look":
      return text(`${paper} is a paper`);
    case "count":
      return pages(41);
    case "picture":
      return { content: [{ type: "image", data: pixel, mimeType: "image/png" }] };
    case "tear":
      return { ...text(`${paper} is too thick to tear`), isError: true };
    case "shred":
      return text(`${paper} is shredded`);
    default:
      return pages(43);
  }
});
await server.connect(new StdioServerTransport());
