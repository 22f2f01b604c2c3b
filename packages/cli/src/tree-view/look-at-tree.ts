// The tree as its own tools show it, for the commands that show it to people.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { accessGateway } from "../access/gateway-access.ts";
import { openTree, type TreeCaller } from "../access/gateway-link.ts";
import { localUser } from "../files/local-store.ts";
import type { Context, gatewayOptions } from "../framework/command.ts";
import { withProgress } from "../framework/with-progress.ts";
import { countsText, serversIn } from "./server-state.ts";

export interface TreeView {
  url: string;
  tools: JsonObject[];
  /** What `mcpax.status` says. */
  report: JsonObject;
  /** The servers of the status report. */
  servers: JsonObject[];
  /** What stands first in the names of the tools. */
  root: string | undefined;
}

export async function lookAtTree(context: Context<typeof gatewayOptions>): Promise<TreeView> {
  // Operators are told more.
  const claims = { sub: `cli:${localUser()}`, topics: [], tools: ["**"], admin: true } as const;
  const access = accessGateway(context, claims);
  const { url } = await access.enter();
  const caller = await openTree(access);
  try {
    // Listing first: servers that were not asked yet are asked now.
    await withProgress(listAll(caller), async () => countsText(serversIn(await statusOf(caller))), context);
    // A server that has just begun may say at once that its lists are others; what is known is not asked for again.
    const tools = await listAll(caller);
    const report = await statusOf(caller);
    const listed = new Set(tools.map(({ name }) => name));
    const servers = serversIn(report).map((server) => withoutListed(server, listed));
    return { url, tools, report: { ...report, servers }, servers, root: rootIn(report) };
  } finally {
    await caller.close();
  }
}

/** Lists of other clients may be from before a change was accepted: what is listed now is not held back. */
function withoutListed(server: JsonObject, listed: ReadonlySet<unknown>): JsonObject {
  const { quarantined } = server;
  if (!Array.isArray(quarantined)) return server;
  return { ...server, quarantined: quarantined.filter((name) => !listed.has(name)) };
}

/** Gateways of older versions do not say. */
export function rootIn({ segment }: JsonObject): string | undefined {
  return typeof segment === "string" ? segment : undefined;
}

/** The servers as they are, without asking any of them. */
export async function serversNow(context: Context<typeof gatewayOptions>): Promise<JsonObject[]> {
  const claims = { sub: `cli:${localUser()}`, topics: [], tools: ["mcpax.status"], admin: true } as const;
  const caller = await openTree(accessGateway(context, claims));
  try {
    return serversIn(await statusOf(caller)).filter(({ name }) => name !== "mcpax");
  } finally {
    await caller.close();
  }
}

async function statusOf(caller: TreeCaller): Promise<JsonObject> {
  const status = await caller.request("tools/call", { name: "mcpax.status", arguments: {} });
  return isObject(status.structuredContent) ? status.structuredContent : {};
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
