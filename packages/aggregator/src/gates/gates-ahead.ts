// `mcpax/gates`: the tree above asks at which gates a call will stop, so that one proof can name all of them. Nothing
// waits here yet: the gate is opened, as it was told, when its call comes with a proof that names it. [AX-11.3-8]
import {
  checkOneCall,
  type GateTerms,
  gatesAheadMethod,
  type JsonObject,
  McpxError,
  readGatesBelow,
} from "@mcpx/protocol";
import { resolveName, textParam } from "../catalogue/resolve.ts";
import { dispatch } from "../dispatch/dispatch.ts";
import { type PreparedCall, prepareCall, sealOf } from "../dispatch/prepare-call.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { isTree } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { paramsBelow } from "./dispatch-tool.ts";
import { wishOf } from "./gate-wish.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { judge } from "./judge.ts";
import { promise } from "./promised-gates.ts";
import { type GateWish, termsOf } from "./store/gate-store.ts";
import { unguessable } from "./store/gate-verbs.ts";

/** The call waits for a human anyway; a tree that is slow to say makes it wait for two. */
const askMs = 2_000;

export async function tellGatesAhead(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
): Promise<JsonObject> {
  const { caller, params, method } = exchange;
  if (caller.isParent !== true) throw new McpxError("unknown_method", method);
  const tool = await resolveName(state, "tools", textParam(params, "name"), caller);
  const call = prepareCall(tool, params);
  const verdict = judge(state, gates, tool, call.params.arguments ?? {});
  if (verdict.action === "deny") return { gates: [] };
  const seal = sealOf(state, call);
  const wish = wishOf(state, exchange, call, verdict, { seal, below: [], isAllowed: false });
  const below = await gatesBelow(state, exchange, call, wish);
  if (verdict.action === "allow") return { gates: below };
  return { gates: [await ownTerms(state, gates, { ...wish, ...(below.length > 0 && { below }) }), ...below] };
}

/** Those of the gate where the same call waits already, else of the one that it will get. */
async function ownTerms(
  { clock }: TreeState,
  { store, aggregatorId, promised, ttlMs }: Gatekeeper,
  wish: GateWish,
): Promise<GateTerms> {
  const open = await store.findOpen(wish);
  if (open?.status === "pending") return termsOf(open, aggregatorId);
  const now = clock.now();
  const fresh = { id: unguessable(), nonce: unguessable(), expiresAt: Math.floor(now + ttlMs), wish };
  const told = promise(promised, fresh, now);
  return termsOf({ ...told.wish, ...told }, aggregatorId);
}

/** What the tree below says, where that is about this very call; no gates where it says nothing. */
export async function gatesBelow(
  state: TreeState,
  exchange: Exchange,
  call: PreparedCall,
  { principal, route, digest }: Pick<GateWish, "principal" | "route" | "digest">,
): Promise<readonly GateTerms[]> {
  const { server } = call.tool;
  if (!isTree(server)) return [];
  try {
    const signal = AbortSignal.any([exchange.signal, AbortSignal.timeout(askMs)]);
    const asked = { ...exchange, method: gatesAheadMethod, wantsProgress: false, signal };
    const answer = await dispatch(state, asked, server, { params: paramsBelow(state, exchange, call) });
    const gates = readGatesBelow(answer.gates);
    // Whatever is below: a human is asked to sign for this call, and for no other.
    checkOneCall([{ asker: principal, route, arguments_digest: digest }, ...gates]);
    return gates;
  } catch (error) {
    state.log.debug({ err: error, server: server.name }, "could not ask a tree below for its gates");
    return [];
  }
}
