// What a server sends without being asked, and who is told of it.

import type { JsonObject } from "@mcpx/protocol";
import { written } from "@mcpx/protocol";
import type { LinkTaker } from "../links/link.ts";
import type { ListKind } from "../mcp/list-kinds.ts";
import { RpcError, rpcCodes } from "../mcp/rpc-error.ts";
import { goesUpward, isPassable, isRendered, isTreeWord, rooted, treeWord, upward } from "../names/upward.ts";
import { degrade, restore } from "../servers/degrade.ts";
import type { LinkEntry } from "../servers/link-entry.ts";
import { expireOwnLists, outdateLists, partLists } from "../servers/list-slots.ts";
import { isTree, type Server } from "../servers/server.ts";
import { userOf } from "../servers/server-origin.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { announceChange, announceUpdate } from "./announce.ts";
import { passNotification, passTreeWord } from "./notification-flows.ts";
import { sealTasks } from "./task-ids.ts";
import { originOf, tellOfServer, tellUpward } from "./tell.ts";

const changes: ReadonlyMap<string, readonly ListKind[]> = new Map([
  ["notifications/tools/list_changed", ["tools"]],
  ["notifications/prompts/list_changed", ["prompts"]],
  ["notifications/resources/list_changed", ["resources", "templates"]],
]);

/** Takes what a server sends, from the moment its session is being opened. */
export function serverTaker(state: TreeState, server: Server, conversation: LinkEntry): LinkTaker {
  function logLine(line: string): void {
    const now = state.clock.now();
    conversation.stderrTail.push(line, now);
    server.stderrTail.push(line, now);
    state.log.debug({ server: server.name, line }, "server wrote a line to stderr");
  }

  function drop(method: string, params: JsonObject, why: string): void {
    passNotification(state, server, params, () => logLine(`(${why}, and dropped: ${shown(method)})`));
  }

  return {
    notification(method, params, isUnclear = false) {
      // The notification it stands for comes from the same tree.
      if (isTree(server) && isRendered(method, params)) return;
      const changed = changes.get(method);
      // Others' lists, and what a tree says of its servers, come from the conversation this one stands beside.
      if (conversation.isBeside && (changed !== undefined || isTreeWord(method))) {
        if (changed !== undefined) changedBeside(state, server, conversation, changed);
      } else if (changed !== undefined) {
        const isNews = outdateLists(server, changed, state.clock.monotonic());
        if (isNews) for (const kind of changed) announceChange(state, kind, userOf(server));
      } else if (isTreeWord(method)) {
        const word = believed(state, server, params);
        if (word === undefined) drop(method, params, "not believed");
        else passTreeWord(state, server, word, () => tellOfServer(state, server, method, word));
      } else if (!isPassable(method) || isForged(state, server, method))
        drop(method, params, "no name to pass on");
      else {
        const notice = { method, params, isUnclear };
        passNotification(state, server, params, () => pass(state, server, conversation, notice));
      }
    },
    reach(why) {
      // Of one caller's own, the calls say it.
      if (conversation.owner !== undefined) return;
      if (why === undefined) restore(state, server);
      else if (!server.isLost) degrade(state, server, why);
    },
    async question(question) {
      const askAside = conversation.owner?.askAside;
      if (askAside !== undefined) return await askAside(question);
      throw new RpcError({
        code: rpcCodes.methodNotFound,
        message: "a server may ask a client only during a call",
      });
    },
    logLine,
  };
}

function changedBeside(state: TreeState, server: Server, entry: LinkEntry, kinds: readonly ListKind[]): void {
  if (kinds.includes("tools")) entry.tools = undefined;
  partLists(server, entry);
  expireOwnLists(entry, kinds);
  for (const kind of kinds) announceChange(state, kind, undefined, entry.owner?.key);
}

/** Only a tree may report on servers, and only on servers below itself. */
function believed({ bySegment }: TreeState, server: Server, params: JsonObject): JsonObject | undefined {
  const word = isTree(server) ? treeWord(server.segment, params) : undefined;
  const [first = ""] = written(word?.segment).split(".");
  return server.segment === undefined && bySegment.has(first) ? undefined : word;
}

/** At the root there is no prefix that would tell it from what another server says. */
function isForged({ bySegment }: TreeState, server: Server, method: string): boolean {
  return server.segment === undefined && bySegment.has(method.split(".", 1)[0] ?? "");
}

const shownMax = 80;

function shown(method: string): string {
  return JSON.stringify(method.slice(0, shownMax));
}

interface Notice {
  method: string;
  params: JsonObject;
  /** It may belong to the call of somebody, and nobody can tell of whom. */
  isUnclear: boolean;
}

function pass(state: TreeState, server: Server, entry: LinkEntry, notice: Notice): void {
  const { method, params, isUnclear } = notice;
  if (method === "notifications/resources/updated") {
    announceUpdate(state, server, entry, params);
    return;
  }
  const { owner } = entry;
  const isUpward = goesUpward(method);
  if (owner?.deliver === undefined) {
    state.log.debug({ server: server.name, method, params }, "notification of a server");
    if (isUpward && !isUnclear) tellUpward(state, server, notice, owner);
    return;
  }
  const sealed = sealTasks(state, server, owner.principal, params);
  const own = { method, params: sealed };
  const told = isUpward ? rooted(state.rootSegment, upward(originOf(server), method, sealed)) : own;
  owner.deliver(told.method, told.params);
}
