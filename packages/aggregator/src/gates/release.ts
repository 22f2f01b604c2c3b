// A gate that was approved lets its call go: consumed first, on disk, then dispatched exactly as it was approved, once.
// [AX-11.3-5]
import { isMcpxError, McpxError, parseExact } from "@mcpx/protocol";
import type { Exchange } from "../exchange.ts";
import { innerPrincipal, plainCaller } from "../plain-caller.ts";
import { resolveName } from "../resolve.ts";
import { faultOf } from "../rpc-error.ts";
import type { TreeState } from "../tree-state.ts";
import { dispatchTool } from "../verbs/dispatch-tool.ts";
import type { Gate, Outcome } from "./gate-store.ts";
import { type Gatekeeper, wake } from "./gatekeeper.ts";

/** Gives back what became of it. Only one of many racers dispatches; the others see what it has done. */
export async function release(state: TreeState, gates: Gatekeeper, gate: Gate): Promise<Gate> {
  const { store } = gates;
  if (await store.consume(gate.id)) await store.settle(gate.id, await carryOut(state, gate));
  const after = (await store.find(gate.id)) ?? gate;
  wake(gates, after);
  return after;
}

async function carryOut(state: TreeState, gate: Gate): Promise<Outcome> {
  const exchange = exchangeFor(gate);
  try {
    const tool = await resolveName(state, "tools", gate.tool, exchange.caller);
    const result = await dispatchTool(state, exchange, tool);
    return { status: "done", resultText: JSON.stringify({ result }) };
  } catch (error) {
    // It may have happened: nobody knows, and nobody tries again.
    if (isMcpxError(error) && (error.code === "server_lost" || error.code === "timeout")) {
      return { status: "indeterminate" };
    }
    state.log.warn({ err: error, gate: gate.id, tool: gate.tool }, "an approved call has failed");
    return { status: "failed", resultText: JSON.stringify({ error: faultOf(error) }) };
  }
}

/** In the name of whoever asked, still there or not, and for nothing but what was approved. */
function exchangeFor({ principal, session, tool, argumentsText }: Gate): Exchange {
  const caller = plainCaller(innerPrincipal(principal, [tool]), session);
  return {
    caller,
    method: "tools/call",
    params: { name: tool, arguments: parseExact(argumentsText) },
    wantsProgress: false,
    paramHeaders: undefined,
    signal: new AbortController().signal,
    notify: () => {},
    ask: async () => {
      throw new McpxError("unknown_method", "nobody can be asked once a call was approved");
    },
  };
}
