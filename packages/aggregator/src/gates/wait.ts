// `mcpax.wait {confirmation_id, timeout_ms?}`: the asker waits for the decision, and gets the result. [AX-11.3-1]
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { dispatch } from "../dispatch/dispatch.ts";
import { askerOf } from "../mcp/asker.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { waitMsOf } from "../mcp/wait-times.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { inOwnWords, waitName } from "./advise.ts";
import { findBelow, type Gatekeeper } from "./gatekeeper.ts";
import { waitAt } from "./wait-at.ts";

export async function wait(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  args: JsonObject,
): Promise<JsonObject> {
  const { confirmation_id: id, timeout_ms: given } = args;
  if (typeof id !== "string") throw new McpxError("bad_params", "confirmation_id must be a string");
  const { name } = askerOf(exchange.caller);
  const principal = await principalOf(gates, id);
  // Somebody else's looks like none.
  if (principal === name) {
    // Where the operator has calls held not at all, only who asks to wait does.
    const isHeld = gates.holdMs > 0 || given !== undefined;
    const { wantsProgress, caller } = exchange;
    const ms = waitMsOf({ given, wantsProgress, info: caller.info });
    return await waitAt(state, gates, exchange, { id }, isHeld ? ms : 0);
  }
  const below = principal === undefined ? findBelow(state, gates, id) : undefined;
  if (below?.askedBy !== name) throw new McpxError("confirmation_unknown");
  const params = { ...exchange.params, name: waitName };
  // As long as the tree below holds it: that one knows what it waits for.
  const result = await dispatch(state, exchange, below.server, { params, latency: "batch" });
  return inOwnWords(state, exchange.caller, below.tool, result);
}

/** Only that: a gate's arguments are not kept while its caller waits. */
async function principalOf({ store }: Gatekeeper, id: string): Promise<string | undefined> {
  return (await store.find(id))?.principal;
}
