// A tool call, from top to bottom.
import { isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import { isOwnOf } from "../catalogue/authorise.ts";
import { resolveName, textParam } from "../catalogue/resolve.ts";
import { noteRefusal } from "../dispatch/call-figures.ts";
import { type PreparedCall, prepareCall } from "../dispatch/prepare-call.ts";
import { dispatchTool } from "../gates/dispatch-tool.ts";
import { holdMade } from "../gates/hold-made.ts";
import { passGate } from "../gates/pass-gate.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { nameIn } from "../names/dialects.ts";
import { scanResult } from "../scanners/scan-result.ts";
import type { TreeState } from "../servers/tree-state.ts";

export async function callTool(state: TreeState, exchange: Exchange): Promise<JsonObject> {
  const name = textParam(exchange.params, "name");
  const run = () => admitAndSend(state, exchange, name);
  return state.traces === undefined ? run() : state.traces.call(exchange, name.slice(0, 255), run);
}

async function admitAndSend(state: TreeState, exchange: Exchange, name: string): Promise<JsonObject> {
  const { call, answer } = await admit(state, exchange, name).catch((error: unknown) => {
    recordRefusal(state, exchange, name, error);
    throw error;
  });
  if (answer !== undefined) return answer;
  const { result, hold } = await scanResult(state, call.tool, await dispatchTool(state, exchange, call));
  return hold === undefined ? result : await holdMade(state, exchange, call, { result, hold });
}

/** Resolving is authorising: what the caller may not use is not found. What waits at a gate is answered by that. */
async function admit(
  state: TreeState,
  exchange: Exchange,
  name: string,
): Promise<{ call: PreparedCall; answer?: JsonObject | undefined }> {
  const tool = await resolveName(state, "tools", name, exchange.caller);
  if (isOwnOf(exchange.caller, tool.server)) {
    throw new McpxError(
      "bad_params",
      `${nameIn(exchange.caller.dialect, tool.fullName)} is the caller's own tool: the call would come back to it`,
    );
  }
  const call = prepareCall(tool, exchange.params);
  if (state.gates === undefined) return { call };
  const answer = await passGate(state, state.gates, exchange, call);
  return { call, answer: answer && { resultType: "complete", ...answer } };
}

function recordRefusal(state: TreeState, { caller }: Exchange, name: string, error: unknown): void {
  const { audit, calls, meter, clock } = state;
  const reason = isMcpxError(error) ? error.code : "internal";
  noteRefusal(calls, clock.now(), reason);
  meter?.refused(reason);
  audit?.record({ action: "tool.call", actor: caller.principal.id, subject: name.slice(0, 255), reason });
}
