// Whether a name that finds nothing is a tool that has changed: whoever may use it is told so.
import { McpxError } from "@mcpx/protocol";
import { mayUse } from "./authorise.ts";
import { knownList } from "./catalogue.ts";
import type { Caller } from "./exchange.ts";
import { renderNames } from "./names/dialects.ts";
import { serversFor } from "./people/server-for.ts";
import type { TreeState } from "./tree-state.ts";

export function quarantineOf(state: TreeState, name: string, caller: Caller): McpxError | undefined {
  if (state.pins === undefined) return undefined;
  const { dialect } = caller;
  for (const server of serversFor(state, caller)) {
    for (const [canonical, { name: own, why }] of knownList(server, "tools", caller)?.held ?? []) {
      if (why !== "quarantined" || !mayUse(caller, canonical)) continue;
      const behind = server.segment === undefined ? own : `${server.segment}.${own}`;
      const rendered = dialect === "canonical" ? canonical : renderNames([canonical], dialect).get(canonical);
      if (name === canonical || name === behind || name === rendered)
        return new McpxError("tool_quarantined", canonical);
    }
  }
  return undefined;
}
