// Whether an unknown name is a quarantined tool: callers who may use the tool are told so.
import { McpxError, withRoot } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { nameIn } from "../names/dialects.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { findServersFor } from "../servers/users/server-for.ts";
import { mayUse } from "./authorise.ts";
import { knownList } from "./catalogue.ts";

/** `written` is the name as the caller gave it, `name` the same without the root's segment. */
export function quarantineOf(
  state: TreeState,
  { name, written }: { name: string; written: string },
  caller: Caller,
): McpxError | undefined {
  if (state.pins === undefined) return undefined;
  const { dialect } = caller;
  for (const server of findServersFor(state, caller)) {
    for (const [canonical, { name: own, why }] of knownList(server, "tools", caller)?.held ?? []) {
      if (why !== "quarantined" || !mayUse(state, caller, canonical)) continue;
      const behind = server.segment === undefined ? own : `${server.segment}.${own}`;
      const fullName = withRoot(state.rootSegment, canonical);
      const rendered =
        dialect === "canonical" ? [] : [fullName, canonical].map((one) => nameIn(dialect, one));
      if (name === canonical || name === behind || rendered.includes(written))
        return new McpxError("tool_quarantined", nameIn(dialect, fullName));
    }
  }
  return undefined;
}
