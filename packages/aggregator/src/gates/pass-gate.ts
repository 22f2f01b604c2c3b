// A call at its gate: it goes on, it is denied, or it waits for a human and is answered with its outcome.
// [AX-11.3-1]
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { argumentsOf, type CallSeal, type PreparedCall, sealOf } from "../dispatch/prepare-call.ts";
import { askerOf } from "../mcp/asker.ts";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { nameIn } from "../names/dialects.ts";
import { scannersFor } from "../scanners/ask-scanner.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { waitName } from "./advise.ts";
import { fitted } from "./fitted.ts";
import { wishOf } from "./gate-wish.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { useGrant } from "./grants/grants.ts";
import { findHeld } from "./hold-made.ts";
import { judge } from "./judge.ts";
import { decideBy, openGate } from "./open-gate.ts";
import { release } from "./release.ts";
import type { Verdict } from "./rules.ts";
import { recordFirst } from "./store/gate-records.ts";
import type { Gate } from "./store/gate-store.ts";
import { waitAt } from "./wait-at.ts";

/** `undefined`: the call may go on as it is. Else what the caller is answered with. */
export async function passGate(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  call: PreparedCall,
): Promise<JsonObject | undefined> {
  const { caller } = exchange;
  const { tool } = call;
  const given = argumentsOf(call);
  const verdict = judge(state, gates, tool, given);
  const { action, holdResult } = verdict;
  // mcpax.wait is never gated; otherwise no caller could learn an outcome.
  if (tool.canonical === waitName) return undefined;
  // The same call while a scanner holds its result joins that gate; it is no new call.
  const held = scannersFor(state, tool).length === 0 ? undefined : await findHeld(state, gates, caller, call);
  if (held !== undefined) return fitted(tool, await waitAt(state, gates, exchange, held));
  if (action === "allow" && !holdResult) return undefined;
  if (action === "deny")
    throw new McpxError("gate_denied", `${nameIn(caller.dialect, tool.fullName)}: ${verdict.why}`);
  const seal = sealOf(state, call);
  const isAllowed = action === "allow" || (await isGranted(state, gates, caller, tool, verdict, seal));
  if (isAllowed && !holdResult) return undefined;
  const wish = wishOf(state, exchange, call, verdict, { seal, below: [], isAllowed });
  const { gate, proven } = await openGate(state, gates, exchange, call, wish);
  state.traces?.wait(exchange, gate);
  // Approved as it came, it takes as long as a call without a gate.
  if (proven.length > 0) await decideBy(state, gates, gate, proven);
  if (!isReady(gate)) return fitted(tool, await waitAt(state, gates, exchange, gate));
  return fitted(tool, await runAndWait(state, gates, exchange, gate));
}

/** The call itself waits for nobody, and was not made yet. */
function isReady({ isAllowed, status }: Gate): boolean {
  return isAllowed === true && status === "approved";
}

/** It goes on when its caller leaves, as everything does that stands at a gate. */
async function runAndWait(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  gate: Gate,
): Promise<JsonObject> {
  const { promise: failed, reject } = Promise.withResolvers<never>();
  release(state, gates, gate).catch((error: unknown) => {
    state.log.error({ err: error, gate: gate.id, tool: gate.tool }, "gated call failed");
    reject(error);
  });
  return await Promise.race([waitAt(state, gates, exchange, gate), failed]);
}

/** Who asks again while the call is under way or its result is held uses nothing up by it. */
async function isGranted(
  { clock, audit, rootSegment: root }: TreeState,
  { grants, store }: Gatekeeper,
  caller: Caller,
  { canonical, fullName }: Entry,
  { action, holdResult, approvers }: Verdict,
  seal: CallSeal,
): Promise<boolean> {
  const { name: principal } = askerOf(caller);
  const { digest } = seal;
  if (holdResult && (await store.findOpen({ principal, tool: fullName, ...seal })) !== undefined)
    return false;
  const now = clock.monotonic();
  const grant = useGrant(grants, {
    action,
    approvers,
    principal,
    session: caller.key,
    tool: canonical,
    digest,
    now,
    root,
  });
  if (grant === undefined) return false;
  await recordFirst(audit, {
    action: "gate.granted",
    actor: caller.principal.id,
    subject: fullName,
    detail: { grant: grant.id, digest },
  });
  return true;
}
