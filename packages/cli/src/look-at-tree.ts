// The tree as its own tools show it, for the commands that show it to people.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Context, gatewayOptions } from "./command.ts";
import { accessGateway } from "./gateway-access.ts";
import { openTree, type TreeCaller } from "./gateway-link.ts";
import { localUser } from "./local-store.ts";

export interface TreeView {
  url: string;
  tools: JsonObject[];
  /** What `mcpax.status` says. */
  report: JsonObject;
  /** Those of the report. */
  servers: JsonObject[];
}

export async function lookAtTree(context: Context<typeof gatewayOptions>): Promise<TreeView> {
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], tools: ["**"] });
  const { url } = await access.enter();
  const caller = await openTree(access);
  try {
    // Listing first: whoever has not been asked yet is asked now.
    const tools = await listAll(caller);
    const status = await caller.request("tools/call", { name: "mcpax.status", arguments: {} });
    const report = isObject(status.structuredContent) ? status.structuredContent : {};
    const servers = Array.isArray(report.servers) ? report.servers.filter(isObject) : [];
    return { url, tools, report, servers };
  } finally {
    await caller.close();
  }
}

/** Every page. */
async function listAll(caller: TreeCaller): Promise<JsonObject[]> {
  const all: JsonObject[] = [];
  let cursor: unknown;
  do {
    const page = await caller.request("tools/list", cursor === undefined ? {} : { cursor });
    if (Array.isArray(page.tools)) all.push(...page.tools.filter(isObject));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return all;
}
