// A gate that was approved lets its call go: consumed first, on disk, then dispatched exactly as it was approved, once.
// [AX-11.3-5]
import {
  confirmationOf,
  isMcpxError,
  isObject,
  type JsonObject,
  McpxError,
  parseExact,
} from "@mcpx/protocol";
import { renewTools, resolveName } from "../catalogue/resolve.ts";
import { proofsBelow } from "../dispatch/joint-proofs.ts";
import {
  argumentsOf,
  type CallSeal,
  checkSeal,
  checkSent,
  type PreparedCall,
  prepareCall,
  sealOf,
} from "../dispatch/prepare-call.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { innerPrincipal, plainCaller } from "../mcp/plain-caller.ts";
import { faultOf } from "../mcp/rpc-error.ts";
import { scanResult } from "../scanners/scan-result.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { authorityIdentity } from "./chain/chain-entry.ts";
import { dispatchTool } from "./dispatch-tool.ts";
import { type Gatekeeper, show, wake } from "./gatekeeper.ts";
import { judge } from "./judge.ts";
import { checkToken } from "./proofs/asker-token.ts";
import type { Verdict } from "./rules.ts";
import { gateEvent } from "./store/gate-records.ts";
import type { CallOutcome, Gate } from "./store/gate-store.ts";

/** Gives back its outcome. Only one of many racers dispatches; the others see what it has done. */
export async function release(state: TreeState, gates: Gatekeeper, gate: Gate): Promise<Gate> {
  const { store } = gates;
  const isOurs = await store.consume(gate.id);
  if (isOurs) {
    show(gates, { ...gate, status: "consumed" });
    const { isKeptBack, ...outcome } = await carryOut(state, gates, gate);
    await keep(gates, { ...gate, holdsResult: gate.holdsResult === true || isKeptBack === true }, outcome);
  }
  const after = (await store.find(gate.id)) ?? gate;
  // A quick approver may have decided about the result already, which is a record of its own.
  const end = after.review === undefined ? after.status : "held";
  if (isOurs) await state.audit?.recordNow(gateEvent(end, gate.principal, after));
  wake(gates, after);
  return after;
}

/** Where a rule holds results, whatever came of the call is kept for those who look at it first. */
async function keep(
  { store, ttlMs }: Gatekeeper,
  { id, holdsResult }: Gate,
  outcome: CallOutcome,
): Promise<void> {
  const { status, resultText } = outcome;
  const isResult = (status === "done" || status === "failed") && resultText !== undefined;
  if (holdsResult === true && isResult) await store.hold(id, { status, resultText }, ttlMs);
  else await store.settle(id, outcome);
}

async function carryOut(
  state: TreeState,
  gates: Gatekeeper,
  gate: Gate,
): Promise<CallOutcome & { isKeptBack?: boolean }> {
  let isSent = false;
  try {
    // No call, but a change of the gates themselves. [B-KEY-2]
    if (gate.server?.identity === authorityIdentity && gates.carryOutChange)
      return await gates.carryOutChange(gate);
    const { exchange, call, seal } = await prepareSigned(state, gates, gate);
    const result = await dispatchTool(state, exchange, call, (params) => {
      checkSent(state, seal, call.tool.server, params);
      isSent = true;
    });
    // What would be looked at is not what the caller would get by it.
    if (gate.holdsResult === true && isPromise(result)) return { status: "withheld", reason: promised };
    const scanned = await scanResult(state, call.tool, result);
    const resultText = JSON.stringify({ result: scanned.result });
    return { status: "done", resultText, ...(scanned.hold !== undefined && { isKeptBack: true }) };
  } catch (error) {
    if (!isSent) return refusalOf(state, gate, error);
    // It may have happened: nobody knows, and nobody tries again.
    if (isMcpxError(error) && (error.code === "server_lost" || error.code === "timeout")) {
      return { status: "indeterminate" };
    }
    state.log.warn({ err: error, gate: gate.id, tool: gate.tool }, "approved call failed");
    return { status: "failed", resultText: JSON.stringify({ error: faultOf(error) }) };
  }
}

interface SignedCall {
  exchange: Exchange;
  call: PreparedCall;
  seal: CallSeal;
}

/**
 * As it would be sent now, which must be what was signed; throws where it is not, or where it may not be sent any more.
 */
async function prepareSigned(state: TreeState, gates: Gatekeeper, gate: Gate): Promise<SignedCall> {
  const { server, digest } = gate;
  if (server === undefined) throw new McpxError("asker_unsigned");
  checkToken(state, gates, gate);
  const exchange = exchangeFor(gate);
  state.traces?.resume(exchange, gate);
  // Other calls do with a list that is out of date; this one was signed with the tool's definition.
  await renewTools(state, gate.tool, exchange.caller);
  const tool = await resolveName(state, "tools", gate.tool, exchange.caller);
  const call = prepareCall(tool, exchange.params);
  const seal = { server, digest };
  checkSeal(seal, sealOf(state, call));
  checkRules(gate, judge(state, gates, tool, argumentsOf(call)));
  return { exchange, call, seal };
}

/** Rules that have become stricter since count. */
function checkRules({ tool, isAllowed, approvals }: Gate, verdict: Verdict): void {
  const { action, why, approvers } = verdict;
  if (action === "deny") throw new McpxError("gate_denied", `${tool}: ${why}`);
  if (isAllowed === true || action === "allow" || approvals.length >= approvers) return;
  throw new McpxError("gate_denied", `${tool}: ${why} requires ${approvers} approvals now`);
}

/** Nothing has left. */
function refusalOf({ log }: TreeState, { id, tool }: Gate, error: unknown): CallOutcome {
  log.warn({ err: error, gate: id, tool }, "approved call not sent");
  const refusal = isMcpxError(error) ? error.code : "internal";
  const { message } = faultOf(error);
  return { status: "refused", refusal, reason: message };
}

const promised = "its server gave a task or a gate of its own instead of a result, and these cannot be held";

/** A task of either generation, or the gate of a tree below. */
function isPromise(result: JsonObject): boolean {
  return isObject(result.task) || typeof result.taskId === "string" || confirmationOf(result) !== undefined;
}

/** In the asker's name, whether or not the asker is still connected, and only for the approved call. */
function exchangeFor(gate: Gate): Exchange {
  const { principal, keys, session, tool, argumentsText } = gate;
  const caller = plainCaller(innerPrincipal(principal, [tool]), session);
  return {
    caller: { ...caller, asker: { name: principal, keys }, proofs: proofsBelow(gate) },
    method: "tools/call",
    params: { name: tool, arguments: parseExact(argumentsText) },
    wantsProgress: false,
    paramHeaders: undefined,
    signal: new AbortController().signal,
    notify: () => {},
    ask: async () => {
      throw new McpxError(
        "unknown_method",
        "questions of a server cannot be answered after its call was approved",
      );
    },
  };
}
