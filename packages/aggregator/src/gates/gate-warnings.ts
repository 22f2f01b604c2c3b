// What people are told of a call before they decide: what its tool's definition hides or imitates, as far as the tree
// knows it at this moment, and what the arguments hide.
import { definitionWarnings, parseExact, valueWarnings, withoutRoot } from "@mcpx/protocol";
import type { Entry } from "../catalogue.ts";
import { everyServer } from "../people/server-for.ts";
import type { TreeState } from "../tree-state.ts";
import type { Gate } from "./gate-store.ts";

/** For pages that show the arguments as text. */
export function gateWarnings(state: TreeState, gate: Gate): string[] {
  return [...toolWarnings(state, gate), ...valueWarnings(parseExact(gate.argumentsText), "the arguments")];
}

/** As its server lists it: what the operator writes over it hides nothing from a model that has heard it before. */
export function toolWarnings(state: TreeState, { tool }: Pick<Gate, "tool">): string[] {
  const entry = knownTool(state, withoutRoot(state.rootSegment, tool));
  if (entry === undefined) return [];
  return definitionWarnings(entry.listed ?? entry.item).map((warning) => `its definition: ${warning}`);
}

function knownTool(state: TreeState, canonical: string): Entry | undefined {
  for (const { lists } of everyServer(state)) {
    for (const { tools } of lists.values()) {
      const entry = tools.listed?.byCanonical.get(canonical);
      if (entry !== undefined) return entry;
    }
  }
  return undefined;
}
