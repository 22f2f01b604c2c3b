// A small server of the official SDK that registers with a tree: the five lines any server needs, and tools to show.
import { randomUUID } from "node:crypto";
import { registerWith } from "@mcpx/client/subserver";
import { harmless, type TransportClass } from "@mcpx/protocol";
import { McpServer } from "@modelcontextprotocol/server";
import type { ExampleTree } from "./start-tree.ts";

interface ExampleTool {
  name: string;
  description: string;
  /** What differs from a tool that only looks. */
  capability?: object;
  /** What it answers; `route` is where it stands, told to trees only. */
  answer(route: string): string;
}

export interface ExampleServer {
  transportClass?: TransportClass;
  /** It counts as a tree: it is told the whole route of a call. */
  isTree?: boolean;
  tools: readonly ExampleTool[];
}

export async function registerServer(
  tree: ExampleTree,
  segment: string,
  { transportClass, isTree = false, tools }: ExampleServer,
): Promise<AsyncDisposable> {
  const server = new McpServer({ name: segment, version: "1.0.0" });
  for (const { name, description, capability, answer } of tools) {
    const _meta = { "x-mcpax-capability": { ...harmless, ...capability } };
    server.registerTool(name, { description, _meta }, async ({ mcpReq }) => {
      const route = mcpReq._meta?.["x-mcpax-route"];
      const text = answer(Array.isArray(route) ? route.join(".") : "");
      return { content: [{ type: "text", text }] };
    });
  }

  const subserverId = randomUUID();
  const token = await tree.token({ sub: segment, segment, scope: "write" });
  const subtreeIds = isTree ? () => [subserverId] : undefined;
  const subserver = registerWith(tree.url, {
    segment,
    server,
    token,
    subserverId,
    transportClass,
    subtreeIds,
  });
  await subserver.registered;
  return subserver;
}
