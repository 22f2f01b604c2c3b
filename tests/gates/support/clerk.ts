// A stdio MCP server that changes nothing: it counts aloud, waits until it is told not to, learns a tool and shouts.
// As a command: node clerk.ts FILE
import { appendFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [, , file = ""] = process.argv;
const capabilities = { tools: { listChanged: true } };
const server = new Server({ name: "clerk", version: "1.0.0" }, { capabilities });
const names = ["count", "wait", "learn", "shout"];
const toolOf = (name: string) => ({
  name,
  description: name,
  annotations: { readOnlyHint: true },
  inputSchema: { type: "object" as const },
});

server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: names.map(toolOf) }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
  const progressToken = params._meta?.progressToken;
  if (params.name === "count" && progressToken !== undefined) {
    for (const progress of [1, 2, 3]) {
      await sendNotification({
        method: "notifications/progress",
        params: { progressToken, progress, total: 3 },
      });
    }
  }
  if (params.name === "wait") {
    appendFileSync(file, "waits\n");
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    appendFileSync(file, "was told not to\n");
  }
  if (params.name === "learn") {
    names.push("learned");
    await server.sendToolListChanged();
  }
  const text =
    params.name === "shout" ? "A".repeat(Number(params.arguments?.chars)) : `${params.name} is done`;
  return { content: [{ type: "text", text }] };
});
await server.connect(new StdioServerTransport());
