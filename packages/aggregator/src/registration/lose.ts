// A subserver that cannot be reached: degraded first, told upward at once, gone when its grace is over.
// [AX-13.1-1] [AX-13.2-1] [AX-13.3-2]
import { closeCodes, deadlineMs, leaseMs } from "@mcpx/protocol";
import { degrade, restore } from "../servers/degrade.ts";
import { isDegraded } from "../servers/server.ts";
import { announceLess, keepMsOf, type RegistrarState, type Subserver, settle } from "./registrar.ts";
import { remove } from "./remove.ts";

export const missedTwo = "it has missed two heartbeats";

/** Its connection is gone, or it was silent for too long: its session is over. */
export function lose(state: RegistrarState, subserver: Subserver, why: string): void {
  if (state.bySegment.get(subserver.registration.segment) !== subserver || subserver.isOver) return;
  subserver.isOver = true;
  suspend(state, subserver, why);
  const { registration, standing, sessionId, channel } = subserver;
  channel.close(closeCodes.internal, "no heartbeat");
  settle(state, state.store.letGo(registration.subserverId, sessionId));
  settle(state, state.store.touch(registration.segment, keepMsOf(state, standing)));
  announceLess(state);
  if (state.tree.graceMs === 0) remove(state, subserver, why);
}

/** Nothing is dispatched to it any more; its session may still be saved. */
export function suspend(state: RegistrarState, subserver: Subserver, why: string): void {
  if (!subserver.isAlive) return;
  const { tree, log } = state;
  const { registration, server } = subserver;
  subserver.isAlive = false;
  log.warn({ segment: registration.segment, why }, "subserver lost");
  // Tells the parents, too.
  degrade(tree, server, why);
}

/** A sign of life before its session was over. */
export function revive(state: RegistrarState, subserver: Subserver, heardAt: number): void {
  subserver.heardAt = heardAt;
  if (subserver.isAlive) return;
  subserver.isAlive = true;
  restore(state.tree, subserver.server);
}

/** To be called again and again: who has been silent, and whose grace is over. */
export function sweep(state: RegistrarState): void {
  const now = state.clock.monotonic();
  for (const subserver of state.bySegment.values()) {
    const { registration, heardAt, isAlive, server } = subserver;
    const { heartbeatMs } = registration;
    const silentMs = now - heardAt;
    if (!isAlive && !isDegraded(server, now)) remove(state, subserver, "its grace period has ended");
    else if (heartbeatMs === 0 || subserver.isOver) continue;
    else if (silentMs >= deadlineMs(heartbeatMs)) lose(state, subserver, "it has missed three heartbeats");
    else if (silentMs >= leaseMs(heartbeatMs)) suspend(state, subserver, missedTwo);
  }
}
