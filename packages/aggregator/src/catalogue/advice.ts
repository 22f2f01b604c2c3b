// A call that a caller is advised to make: in the names it knows, and through the tools it has. Pure. [B-CLIENT-2]
import { type WaitAdvice, withRoot } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { nameIn } from "../names/dialects.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { mayUse } from "./authorise.ts";

/** What the caller calls a server's tool; `undefined` where it may not use it. */
export function toldName(
  state: Pick<TreeState, "rootSegment" | "rootSince">,
  caller: Pick<Caller, "dialect" | "principal" | "profile">,
  { segment }: Pick<Server, "segment">,
  tool: string,
): string | undefined {
  const canonical = segment === undefined ? tool : `${segment}.${tool}`;
  if (!mayUse(state, caller, canonical)) return undefined;
  return nameIn(caller.dialect, withRoot(state.rootSegment, canonical));
}

/** A profile with `search` lists one tool that calls all others. */
export function advise(caller: Pick<Caller, "profile"> | undefined, advice: WaitAdvice): WaitAdvice {
  if (caller?.profile?.search !== true) return advice;
  return { tool: "call_tool", arguments: { name: advice.tool, arguments: advice.arguments } };
}
