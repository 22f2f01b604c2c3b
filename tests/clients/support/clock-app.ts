// A stdio MCP server with an app, made with the official package: a page that shows the time, and tools that the page
// calls. As a command: node clock-app.ts PLACE
import {
  RESOURCE_MIME_TYPE,
  registerAppResource,
  registerAppTool,
} from "@modelcontextprotocol/ext-apps/server";
import { McpServer } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";

const [, , place = ""] = process.argv;
const page = "ui://clock/view.html";
const server = new McpServer({ name: "clock", version: "1.0.0" });
const text = (words: string) => ({ content: [{ type: "text" as const, text: words }] });

registerAppTool(
  server,
  "show_time",
  {
    description: "Shows the time",
    annotations: { readOnlyHint: true },
    _meta: { ui: { resourceUri: page } },
  },
  () => text(`noon in ${place}`),
);
registerAppTool(
  server,
  "refresh",
  {
    description: "For the page",
    annotations: { readOnlyHint: true },
    _meta: { ui: { resourceUri: page, visibility: ["app"] } },
  },
  () => text(`one o'clock in ${place}`),
);
registerAppTool(
  server,
  "stop",
  {
    description: "Stops the clock for good",
    annotations: { destructiveHint: true },
    _meta: { ui: { resourceUri: page } },
  },
  () => text(`the clock of ${place} has stopped`),
);
registerAppTool(
  server,
  "think",
  {
    description: "For models",
    annotations: { readOnlyHint: true },
    _meta: { ui: { visibility: ["model"] } },
  },
  () => text("hm"),
);
registerAppResource(server, "page", page, {}, () => ({
  contents: [{ uri: page, mimeType: RESOURCE_MIME_TYPE, text: `<p>${place}</p>` }],
}));
await server.connect(new StdioServerTransport());
