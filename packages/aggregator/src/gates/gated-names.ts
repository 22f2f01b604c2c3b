// Which tools wait for a signature when they are called, as far as that does not depend on their arguments.
import { everyServer, type TreeState } from "../servers/tree-state.ts";
import { judge } from "./judge.ts";

/** Their full names. */
export function gatedNames(state: TreeState): string[] {
  const { gates } = state;
  if (gates === undefined) return [];
  const entries = [...everyServer(state)].flatMap(({ lists }) =>
    [...lists.values()].flatMap(({ tools }) => [...(tools.listed?.entries ?? [])]),
  );
  const gated = entries.filter((entry) => /ask/.test(judge(state, gates, entry, {}).action));
  return [...new Set(gated.map(({ fullName }) => fullName))];
}
