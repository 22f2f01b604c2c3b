// One `subserver_id` has one place in a whole tree: the ids of all that registered travel upward, and where two trees
// below have the same one, the second is refused. [AX-13.4-1]
import { shareOf } from "@mcpx/host";
import { closeCodes, subserverIdsMax } from "@mcpx/protocol";
import type { RegistrarState, Subserver } from "./registrar.ts";
import { evict } from "./remove.ts";

/** All that are registered below us or are just being, but for `except` and what stands below it. */
export function subserverIdsOf({ bySegment, pending }: RegistrarState, except?: string): Set<string> {
  const counted = [...bySegment.values()].filter(
    ({ isOver, registration }) => !isOver && registration.segment !== except,
  );
  // Our own first: what is too much for one registration above is cut off at the end.
  const ids = new Set(counted.map(({ registration }) => registration.subserverId));
  for (const { subserverIds } of counted) for (const id of subserverIds) ids.add(id);
  for (const [segment, { subserverIds }] of pending) {
    if (segment !== except) for (const id of subserverIds) ids.add(id);
  }
  return ids;
}

/**
 * Which of the ids below `segment` are known from now on, and which are registered elsewhere here. Of one that brings
 * more than is left for others then, the rest is not known, and kept apart by nobody but itself: it keeps nobody out.
 */
export function sortIds(
  state: RegistrarState,
  segment: string,
  ids: readonly string[],
): { taken: string[]; refused: string[] } {
  const elsewhere = subserverIdsOf(state, segment);
  // Its own, which comes first, is always known.
  const share = Math.max(1, shareOf(subserverIdsMax, elsewhere.size));
  return {
    taken: ids.filter((id) => !elsewhere.has(id)).slice(0, share),
    refused: ids.filter((id) => elsewhere.has(id)),
  };
}

/** A tree above knows these ids from elsewhere, where they were first. */
export function dropRefused(state: RegistrarState, refused: ReadonlySet<string>): void {
  if (refused.size === 0) return;
  for (const entry of state.pending.values()) {
    for (const id of entry.subserverIds) if (refused.has(id)) entry.refused.add(id);
  }
  for (const subserver of [...state.bySegment.values()].filter(({ isOver }) => !isOver)) {
    if (refused.has(subserver.registration.subserverId))
      evict(state, subserver, "it is registered elsewhere in the tree", "duplicate_subserver");
    else dropCarried(subserver, refused);
  }
}

/** An aggregator that is not just being answered comes again, and the answer to that names the ids. */
function dropCarried(subserver: Subserver, refused: ReadonlySet<string>): void {
  const left = [...subserver.subserverIds].filter((id) => !refused.has(id));
  if (left.length === subserver.subserverIds.size || subserver.isUpdating) return;
  subserver.channel.close(closeCodes.draining, "duplicate_subserver");
}
