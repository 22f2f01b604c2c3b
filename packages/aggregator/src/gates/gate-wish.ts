// What a call at a gate is, from who makes it, its tool and the verdict about it.
import { cautious, type GateTerms, isObject } from "@mcpx/protocol";
import { argumentsOf, type CallSeal, type PreparedCall } from "../dispatch/prepare-call.ts";
import { routeOf } from "../dispatch/route-of.ts";
import { askerOf } from "../mcp/asker.ts";
import type { Exchange } from "../mcp/exchange.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { askName } from "./ask.ts";
import { tokenOf } from "./proofs/asker-token.ts";
import type { Verdict } from "./rules.ts";
import type { GateWish } from "./store/gate-store.ts";

export function wishOf(
  state: TreeState,
  { caller, params }: Pick<Exchange, "caller" | "params">,
  call: PreparedCall,
  { why, approvers, holdResult }: Pick<Verdict, "approvers" | "holdResult"> & { why: string },
  { seal, below, isAllowed }: { seal: CallSeal; below: readonly GateTerms[]; isAllowed: boolean },
): GateWish {
  const { canonical, fullName, capability = cautious } = call.tool;
  const { name: principal, keys } = askerOf(caller);
  const meta = isObject(params._meta) ? params._meta : undefined;
  return {
    principal,
    session: caller.key,
    keys,
    tool: fullName,
    argumentsText: JSON.stringify(argumentsOf(call)),
    ...seal,
    token: tokenOf(caller),
    route: routeOf(state, caller, meta, canonical).segments,
    ...(below.length > 0 && { below }),
    capability,
    why,
    approvers,
    ...(holdResult && { holdsResult: true }),
    ...(isAllowed && { isAllowed: true }),
    ...(canonical === askName && { isForOneHearer: true }),
  };
}
