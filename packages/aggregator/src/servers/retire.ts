// A server is out of the tree: nothing is kept of it, and its conversations end when their calls have ended.
import { setTimeout as wait } from "node:timers/promises";
import { forgetLists } from "./list-slots.ts";
import type { Server } from "./server.ts";
import type { TreeState } from "./tree-state.ts";

/** Calls under way may take this long to end. */
const graceMs = 5_000;
const lookMs = 20;

/** To be called once it has left its place. A successor in another place is no heir. */
export function retire(state: TreeState, server: Server, successor: Server | undefined): void {
  for (const { server: own } of server.byUser.values()) retire(state, own, successor);
  state.events.retired(server, successor?.segment === server.segment ? successor : undefined);
  server.isRetired = true;
  forgetLists(server);
  state.listCapacity.counted = undefined;
  state.leaving.add(server);
  void endWhenIdle(state, server);
}

async function endWhenIdle(state: TreeState, server: Server): Promise<void> {
  const until = performance.now() + graceMs;
  const isBusy = () => [...server.links.values()].some(({ inFlight }) => inFlight > 0);
  while (isBusy() && performance.now() < until && !state.isClosed)
    await wait(lookMs, undefined, { ref: false });
  const entries = [...new Set(server.links.values())];
  // First: an end that was wanted is no loss.
  server.links.clear();
  await Promise.allSettled(entries.map(async ({ opening }) => (await opening).close()));
  state.leaving.delete(server);
}
