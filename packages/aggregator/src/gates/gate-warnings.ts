// What people are told of a tool before they decide about a call: what its definition hides or imitates, as far as the
// tree knows it at this moment. What the arguments hide is found where they are shown.
import { definitionWarnings, type JsonObject, secretPlaces, withoutRoot } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { everyServer, type TreeState } from "../servers/tree-state.ts";
import type { Gate } from "./store/gate-store.ts";
import { type WhoseWord, whoseWord } from "./whose-word.ts";

/**
 * A memo: a listed item never changes. Each is read once, since anybody with the address of a gate may ask for its
 * warnings as often as they like.
 */
const read = new WeakMap<JsonObject, string[]>();

/** As its server lists it: what the operator writes over it hides nothing from a model that has heard it before. */
export function toolWarnings(state: TreeState, { tool }: Pick<Gate, "tool">): string[] {
  const entry = knownTool(state, withoutRoot(state.rootSegment, tool));
  if (entry === undefined) return [];
  const item = entry.listed ?? entry.item;
  const known = read.get(item);
  if (known !== undefined) return known;
  const warnings = definitionWarnings(item).map((warning) => `its definition: ${warning}`);
  read.set(item, warnings);
  return warnings;
}

/** Whose word its danger is, as far as the tool is known at this moment. */
export function toolWord(state: TreeState, { tool }: Pick<Gate, "tool">): WhoseWord | undefined {
  const entry = knownTool(state, withoutRoot(state.rootSegment, tool));
  return entry === undefined ? undefined : whoseWord(entry);
}

/** Where its schema says that arguments are secret. */
export function toolSecrets(state: TreeState, { tool }: Pick<Gate, "tool">): string[] {
  const entry = knownTool(state, withoutRoot(state.rootSegment, tool));
  return entry === undefined ? [] : secretPlaces(entry.item.inputSchema);
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
