// What a server says unasked, and to whom it goes.
import type { JsonObject } from "@mcpx/protocol";
import { announceChange, announceUpdate } from "./announce.ts";
import { expireLists } from "./catalogue.ts";
import type { ListKind } from "./fetch-list.ts";
import type { LinkTaker } from "./links/link.ts";
import type { Remarks } from "./remarks.ts";
import { RpcError, rpcCodes } from "./rpc-error.ts";
import type { LinkEntry, Server } from "./server.ts";
import { sealTasks } from "./task-ids.ts";
import type { TreeState } from "./tree-state.ts";

const changes: Readonly<Record<string, readonly ListKind[]>> = {
  "notifications/tools/list_changed": ["tools"],
  "notifications/prompts/list_changed": ["prompts"],
  "notifications/resources/list_changed": ["resources", "templates"],
};

/** `own` is the conversation itself, which is not there yet when it begins to be heard. */
export function hear(state: TreeState, server: Server, own: () => LinkEntry, said: Remarks): LinkTaker {
  return {
    notification(method, params) {
      const changed = changes[method];
      if (changed !== undefined) {
        expireLists(server, changed);
        for (const kind of changed) announceChange(state, kind);
      } else if (method === "notifications/resources/updated") announceUpdate(state, server, own(), params);
      else toOwner(state, server, own(), method, params);
    },
    async question(question) {
      const askAside = own().owner?.askAside;
      if (askAside !== undefined) return await askAside(question);
      throw new RpcError({ code: rpcCodes.methodNotFound, message: "there is nobody to ask outside a call" });
    },
    remark(line) {
      const now = state.clock.now();
      said.push(line, now);
      server.remarks.push(line, now);
      state.log.debug({ server: server.name, line }, "a server's remark");
    },
  };
}

/** What belongs to no request in a conversation many share could be anybody's: it goes to nobody but the log. */
function toOwner(
  state: TreeState,
  server: Server,
  { owner }: LinkEntry,
  method: string,
  params: JsonObject,
): void {
  if (owner?.deliver === undefined) {
    state.log.debug({ server: server.name, method, params }, "a server's notification");
    return;
  }
  owner.deliver(method, sealTasks(state, server, owner.principal, params));
}
