// `mcpax.wait {confirmation_id}`: whoever asked waits for the decision, and gets the result. [AX-11.3-1]
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { dispatch } from "../dispatch.ts";
import type { Exchange } from "../exchange.ts";
import { principalName } from "../plain-caller.ts";
import type { TreeState } from "../tree-state.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { waitAt } from "./wait-at.ts";

export async function wait(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  args: JsonObject,
): Promise<JsonObject> {
  const { confirmation_id: id } = args;
  if (typeof id !== "string") throw new McpxError("bad_params", "confirmation_id must be a string");
  const gate = await gates.store.find(id);
  // Somebody else's looks like none.
  if (gate !== undefined && gate.principal === principalName(exchange.caller.principal)) {
    return await waitAt(state, gates, exchange, gate);
  }
  const server = gate === undefined ? gates.below.get(id) : undefined;
  if (server === undefined) throw new McpxError("confirmation_unknown");
  const params = { ...exchange.params, name: "mcpax.wait" };
  return await dispatch(state, exchange, server, { params, latency: "slow" });
}
