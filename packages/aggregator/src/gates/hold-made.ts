// The result of a call that was made without a gate, and that nobody may see before somebody has looked at it: it gets a
// gate afterwards, which is under way from its first moment.
import { isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import { type PreparedCall, sealOf } from "../dispatch/prepare-call.ts";
import { askerOf } from "../mcp/asker.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import type { Scanned } from "../scanners/scan-result.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { fitted } from "./fitted.ts";
import { wishOf } from "./gate-wish.ts";
import { type Gatekeeper, wake } from "./gatekeeper.ts";
import { gateEvent } from "./store/gate-records.ts";
import type { Gate } from "./store/gate-store.ts";
import { waitAt } from "./wait-at.ts";

/** What its caller is answered with. Throws `result_withheld` where it cannot be held: it is never shown for that. */
export async function holdMade(
  state: TreeState,
  exchange: Exchange,
  call: PreparedCall,
  { result, hold: { by, reason } }: Required<Scanned>,
): Promise<JsonObject> {
  const { gates, audit } = state;
  const why = `${call.tool.fullName}: ${by} holds its result for review${reason && `: ${reason}`}`;
  if (gates === undefined) throw new McpxError("result_withheld", why);
  const { store, ttlMs, quorum = 1 } = gates;
  const verdict = { why: by, approvers: quorum, holdResult: true };
  const seal = sealOf(state, call);
  const wish = {
    ...wishOf(state, exchange, call, verdict, { seal, below: [], isAllowed: true }),
    isMade: true,
  };
  const { gate } = await store.open(wish, ttlMs).catch((error: unknown) => {
    if (!isMcpxError(error)) throw error;
    throw new McpxError("result_withheld", `${why}, and the result cannot be held: ${error.detail}`);
  });
  // Where the same call waits already, that is what is looked at.
  const isHeld = await store.hold(gate.id, { status: "done", resultText: JSON.stringify({ result }) }, ttlMs);
  const now = await store.find(gate.id);
  if (now?.review === undefined)
    throw new McpxError("result_withheld", `${why}, and the result cannot be held`);
  if (isHeld) {
    await audit?.recordNow(gateEvent("held", gate.principal, now));
    wake(gates, now);
  }
  return fitted(call.tool, await waitAt(state, gates, exchange, now));
}

/** The gate at which the result of this call is held, or was held and its caller has not got the outcome. */
export async function findHeld(
  state: TreeState,
  { store }: Gatekeeper,
  caller: Caller,
  call: PreparedCall,
): Promise<Gate | undefined> {
  const principal = askerOf(caller).name;
  const gate = await store.findOpen({ principal, tool: call.tool.fullName, ...sealOf(state, call) });
  return gate?.review === undefined ? undefined : gate;
}
