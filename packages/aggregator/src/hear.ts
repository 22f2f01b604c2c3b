// What a server says unasked, and to whom it goes.
import { type JsonObject, treeNotifications } from "@mcpx/protocol";
import { announceChange, announceUpdate, originOf, tellParents, tellUpward } from "./announce.ts";
import { expireLists } from "./catalogue.ts";
import type { ListKind } from "./fetch-list.ts";
import type { LinkTaker } from "./links/link.ts";
import { passNotification, passTreeWord } from "./notification-flows.ts";
import type { Remarks } from "./remarks.ts";
import { RpcError, rpcCodes } from "./rpc-error.ts";
import { isTree, type LinkEntry, type Server } from "./server.ts";
import { sealTasks } from "./task-ids.ts";
import type { TreeState } from "./tree-state.ts";
import { goesUpward, treeWord, upward } from "./upward.ts";

const changes: ReadonlyMap<string, readonly ListKind[]> = new Map([
  ["notifications/tools/list_changed", ["tools"]],
  ["notifications/prompts/list_changed", ["prompts"]],
  ["notifications/resources/list_changed", ["resources", "templates"]],
]);
const treeWords: ReadonlySet<string> = new Set(Object.values(treeNotifications));

/** `own` is the conversation itself, which is not there yet when it begins to be heard. */
export function hear(state: TreeState, server: Server, own: () => LinkEntry, said: Remarks): LinkTaker {
  function remark(line: string): void {
    const now = state.clock.now();
    said.push(line, now);
    server.remarks.push(line, now);
    state.log.debug({ server: server.name, line }, "a server's remark");
  }

  return {
    notification(method, params) {
      const changed = changes.get(method);
      if (changed !== undefined) {
        expireLists(server, changed);
        for (const kind of changed) announceChange(state, kind, server.person);
        return;
      }
      if (!treeWords.has(method)) {
        const entry = own();
        passNotification(state, server, params, () => pass(state, server, entry, method, params));
        return;
      }
      const word = believed(state, server, params);
      if (word !== undefined) passTreeWord(state, server, word, () => tellParents(state, method, word));
      else passNotification(state, server, params, () => remark(`(not believed, and dropped: ${method})`));
    },
    async question(question) {
      const askAside = own().owner?.askAside;
      if (askAside !== undefined) return await askAside(question);
      throw new RpcError({ code: rpcCodes.methodNotFound, message: "there is nobody to ask outside a call" });
    },
    remark,
  };
}

/** Only a tree has servers to speak of, and only of those below it is it believed. */
function believed({ bySegment }: TreeState, server: Server, params: JsonObject): JsonObject | undefined {
  const word = isTree(server) ? treeWord(server.segment, params) : undefined;
  const [first = ""] = String(word?.segment).split(".");
  return server.segment === undefined && bySegment.has(first) ? undefined : word;
}

/** What belongs to no request in a conversation many share could be anybody's: it goes to the log and the trees above. */
function pass(state: TreeState, server: Server, entry: LinkEntry, method: string, params: JsonObject): void {
  if (method === "notifications/resources/updated") {
    announceUpdate(state, server, entry, params);
    return;
  }
  const { owner } = entry;
  if (owner?.deliver === undefined) {
    state.log.debug({ server: server.name, method, params }, "a server's notification");
    // What is said to one user is not for whoever is above.
    if (goesUpward(method) && server.person === undefined) tellUpward(state, server, method, params);
    return;
  }
  const sealed = sealTasks(state, server, owner.principal, params);
  const isUpward = owner.isParent === true && goesUpward(method);
  const told = isUpward ? upward(originOf(server), method, sealed) : { method, params: sealed };
  owner.deliver(told.method, told.params);
}
