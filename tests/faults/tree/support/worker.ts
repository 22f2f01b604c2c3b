// The server all subservers here are: an official SDK one with one tool, which tells whenever it has done something.
import { setTimeout as wait } from "node:timers/promises";
import { harmless } from "@mcpx/protocol";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

export function createWorker(segment: string, did: (n: string) => void): McpServer {
  const server = new McpServer({ name: segment, version: "1.0.0" });
  const inputSchema = z.object({ n: z.string(), ms: z.number().optional() });
  // Of the class `fast`.
  const _meta = { "x-mcpax-capability": harmless };
  server.registerTool("work", { inputSchema, _meta }, async ({ n, ms = 0 }) => {
    did(n);
    if (ms > 0) await wait(ms);
    return { content: [{ type: "text", text: `${segment} ${n}` }] };
  });
  return server;
}
