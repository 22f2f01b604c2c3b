// The tree for the person who is logged in at the console: its servers, the tools their login opens, and a call by hand.
import { hash } from "node:crypto";
import {
  authorisationStatus,
  gatedNames,
  listsAwaited,
  plainCaller,
  type RunningTree,
  serverStatus,
  serversOf,
  signInStatus,
} from "@mcpx/aggregator";
import type { Principal } from "@mcpx/host";
import { isObject, type JsonObject, McpxError, parseExact } from "@mcpx/protocol";

/** Lists longer than this are cut; the page says so. */
const toolsMax = 10_000;
/** No page waits longer for a server that starts, hangs or has to be authorised: its tools come with a later look. */
const listWaitMs = 250;

/** `seen`: the version of the tools that the page has: they are many, change seldom, and are not told again. */
export async function showTree(
  tree: RunningTree,
  principal: Principal,
  seen?: string | null,
): Promise<JsonObject> {
  const tools: JsonObject[] = [];
  let cursor: unknown;
  do {
    // The pages after the first wait for nobody.
    const page = await ask(
      tree,
      principal,
      "tools/list",
      cursor === undefined ? { listWaitMs } : { listWaitMs: 0, params: { cursor } },
    );
    if (Array.isArray(page.tools)) tools.push(...page.tools.filter(isObject));
    cursor = page.nextCursor;
  } while (cursor !== undefined && tools.length < toolsMax);
  // Not by a call of `mcpax.status`: a page that polls would fill the audit.
  const servers = serversOf(tree.state).map((server) => ({
    ...serverStatus(tree.state, server),
    ...authorisationStatus(server),
    ...signInStatus(tree.state, server, callerOf(principal)),
  }));
  const segment = tree.state.rootSegment ?? null;
  const gated = gatedNames(tree.state);
  const version = hash("sha256", JSON.stringify([tools, gated]), "base64url");
  const told = version === seen ? {} : { tools, gated };
  const awaited = listsAwaited(tree.state, "tools", callerOf(principal));
  return { ...told, version, servers, awaited, segment, isCut: cursor !== undefined };
}

/** Exactly as it was written: numbers are not read and written again. */
export async function callByHand(tree: RunningTree, principal: Principal, text: string): Promise<JsonObject> {
  const { tool, arguments: given = {} } = readCall(text);
  if (typeof tool !== "string") throw new McpxError("bad_request", "tool must be a tool's name");
  if (!isObject(given)) throw new McpxError("bad_request", "arguments must be an object");
  return await ask(tree, principal, "tools/call", { params: { name: tool, arguments: given } });
}

function readCall(text: string): JsonObject {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    value = undefined;
  }
  if (!isObject(value)) throw new McpxError("bad_request", "the body must be a JSON object");
  return value;
}

const callerOf = (principal: Principal) => plainCaller(principal, `console:${principal.id}`);

function ask(
  tree: RunningTree,
  principal: Principal,
  method: string,
  { params = {}, listWaitMs }: { params?: JsonObject; listWaitMs?: number },
): Promise<JsonObject> {
  return tree.handle({
    caller: callerOf(principal),
    method,
    params,
    listWaitMs,
    wantsProgress: false,
    paramHeaders: undefined,
    signal: new AbortController().signal,
    notify: () => {},
    ask: async () => {
      throw new McpxError("unknown_method", "a call from the console cannot answer questions of a tool");
    },
  });
}
