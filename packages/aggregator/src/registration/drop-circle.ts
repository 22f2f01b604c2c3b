// A tree above has refused us because of ids that we have brought from below: the subserver that brings them is ended,
// and not this tree. A registrant that claims a parent's id would otherwise cut this tree off for as long as it stays.
// [AX-5.3-2]
import type { RegistrarState } from "./registrar.ts";
import { evict } from "./remove.ts";

/** `closing`: the ids that stand above us, as the tree that refused us says. */
export function dropCircle(state: RegistrarState, closing: ReadonlySet<string>): void {
  for (const subserver of [...state.bySegment.values()].filter(({ isOver }) => !isOver)) {
    const { registration, subtreeIds } = subserver;
    const closes = closing.has(registration.subserverId) || subtreeIds.some((id) => closing.has(id));
    if (closes) evict(state, subserver, "it closes a circle with a tree above", "registration_cycle");
  }
}
