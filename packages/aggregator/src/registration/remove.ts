// A subserver leaves the tree, with all that stands below it. [AX-6.3-4] [AX-13.3-1]
import { closeCodes, type Reason } from "@mcpx/protocol";
import { listKinds } from "../mcp/list-kinds.ts";
import { announceChange } from "../notifications/announce.ts";
import { retire } from "../servers/retire.ts";
import { announceLess, type RegistrarState, type Subserver, settle } from "./registrar.ts";

export function remove(state: RegistrarState, subserver: Subserver, why: string): void {
  const { registration, server } = subserver;
  const { segment } = registration;
  // Of one that is over, the trees above were told when it was lost.
  const wasOver = subserver.isOver;
  if (state.bySegment.get(segment) !== subserver) return;
  const { tree, log } = state;
  state.bySegment.delete(segment);
  tree.bySegment.delete(segment);
  end(subserver);
  retire(tree, server, undefined);
  log.info({ segment, why }, "subserver removed");
  for (const kind of listKinds) announceChange(tree, kind);
  if (!wasOver) announceLess(state);
}

/** Shown out of its place, and free to come back. */
export function evict(state: RegistrarState, subserver: Subserver, why: string, reason: Reason): void {
  const { registration, sessionId, channel } = subserver;
  remove(state, subserver, why);
  settle(state, state.store.letGo(registration.subserverId, sessionId));
  channel.close(closeCodes.draining, reason);
}

/** The same one has come back, and has its place already. */
export function supersede(state: RegistrarState, before: Subserver, after: Subserver): void {
  end(before);
  retire(state.tree, before.server, after.server);
  before.channel.close(closeCodes.replaced, "it has registered again");
  const { subserverId } = before.registration;
  // Under another id, the old one's lease is nobody's.
  if (subserverId !== after.registration.subserverId) {
    settle(state, state.store.letGo(subserverId, before.sessionId));
  }
}

function end(subserver: Subserver): void {
  subserver.isAlive = false;
  subserver.isOver = true;
  subserver.server.degraded = undefined;
}
