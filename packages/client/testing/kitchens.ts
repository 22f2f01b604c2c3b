// The same small server of both official SDKs.
import { McpServer as ServerV1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { McpServer as ServerV2 } from "@modelcontextprotocol/server";

const info = { name: "kitchen", version: "1.2.3" };

export interface Kitchen {
  server: ServerV1 | ServerV2;
  /** How often `bake` was done. */
  count: number;
  /** What `bake` waits for. */
  until: Promise<void>;
}

export function kitchenV1(): Kitchen {
  const kitchen: Kitchen = { server: new ServerV1(info), count: 0, until: Promise.resolve() };
  (kitchen.server as ServerV1).registerTool("bake", {}, () => bake(kitchen));
  return kitchen;
}

export function kitchenV2(): Kitchen {
  const kitchen: Kitchen = { server: new ServerV2(info), count: 0, until: Promise.resolve() };
  (kitchen.server as ServerV2).registerTool("bake", {}, () => bake(kitchen));
  return kitchen;
}

async function bake(kitchen: Kitchen) {
  kitchen.count += 1;
  await kitchen.until;
  return { content: [{ type: "text" as const, text: "baked" }] };
}
