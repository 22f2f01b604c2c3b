// Names of things of the tree, as far as they are known: nothing is started or asked for them.
import { withRoot } from "@mcpx/protocol";
import { listGrants } from "../gates/grants/grants.ts";
import { everyServer, type TreeState } from "../servers/tree-state.ts";

export interface KnownNames {
  /** Names of configured servers. */
  servers(): string[];
  profiles(): string[];
  /** Of what anybody has listed: shown, or held back for this reason. */
  tools(state: "listed" | "quarantined" | "disabled"): string[];
  /** The ids of calls that wait at gates, and of results that are held there. */
  gates(): Promise<string[]>;
  grants(): string[];
}

export function knownNames(state: TreeState): KnownNames {
  const { gates, clock, profiles, configured } = state;
  return {
    servers: () => [...configured.keys()],
    profiles: () => [...profiles.keys()],
    tools: (wanted) => [...new Set(toolsOf(state, wanted))],
    async gates() {
      if (gates === undefined) return [];
      const waiting = await Promise.all([
        gates.store.list({ status: "pending" }),
        gates.store.list({ status: "held" }),
      ]);
      return waiting.flat().map(({ id }) => id);
    },
    grants: () =>
      gates === undefined ? [] : listGrants(gates.grants, clock.monotonic()).map(({ id }) => id),
  };
}

function toolsOf(state: TreeState, wanted: "listed" | "quarantined" | "disabled"): string[] {
  const lists = everyServer(state).flatMap(({ lists }) => [...lists.values()]);
  return lists.flatMap(({ tools: { listed } }) => {
    if (listed === undefined) return [];
    if (wanted === "listed") return listed.entries.map(({ fullName }) => fullName);
    const held = [...listed.held].filter(([, { why }]) => why === wanted);
    return held.map(([canonical]) => withRoot(state.rootSegment, canonical));
  });
}
