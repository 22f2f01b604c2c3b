// Waiting for a human without breaking the client: shown an address where it can be, held for a while with signs of
// life, then answered with what it waits for. Asking again joins. [AX-11.3-1]
import { setTimeout as sleep } from "node:timers/promises";
import { confirmationRequired, isObject, type JsonObject, parseExact } from "@mcpx/protocol";
import type { Exchange } from "../exchange.ts";
import { RpcError, type RpcFault } from "../rpc-error.ts";
import type { TreeState } from "../tree-state.ts";
import { type Gate, termsOf } from "./gate-store.ts";
import type { Gatekeeper } from "./gatekeeper.ts";

const signMs = 2_000;

export async function waitAt(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  gate: Gate,
): Promise<JsonObject> {
  const first = await outcome(gates, gate);
  if (first !== undefined) return first;
  if (gates.obstacle === undefined && canBeShown(exchange)) await show(state, gates, exchange, gate);
  await held(gates, exchange, gate);
  const now = (await gates.store.find(gate.id)) ?? gate;
  return (await outcome(gates, now)) ?? confirmation(gates, now);
}

/** What the caller is answered with while nobody has decided. */
function confirmation({ aggregatorId, approveUrl, obstacle }: Gatekeeper, gate: Gate): JsonObject {
  const answer = confirmationRequired({
    ...termsOf(gate, aggregatorId),
    arguments: parseExact(gate.argumentsText),
    annotation: gate.capability,
    approve_url: approveUrl(gate.id),
  });
  if (obstacle === undefined) return answer;
  // In the first text: some clients show no other.
  const [first] = answer.content as { text: string }[];
  return { ...answer, content: [{ type: "text", text: `${first?.text}\n${obstacle}` }] };
}

/** What became of it, told once; `undefined` while it is open. */
export async function outcome(gates: Gatekeeper, gate: Gate): Promise<JsonObject | undefined> {
  const told = tell(gate);
  if (told !== undefined) await gates.store.deliver(gate.id);
  return told;
}

/** In words, where something has become of it. */
export function tell(gate: Gate): JsonObject | undefined {
  const { status, resultText, tool, rejectedBy, reason } = gate;
  switch (status) {
    case "done":
    case "failed":
      if (resultText !== undefined) return readResult(resultText);
      return notice(gate, `${tool} was called, but its result was too large to keep.`);
    case "rejected": {
      const why = reason === undefined ? "" : `: ${reason}`;
      return notice(gate, `Nothing has happened: ${rejectedBy ?? "a human"} has rejected this call${why}`);
    }
    case "expired":
      return notice(gate, `Nothing has happened: nobody has approved ${tool} in time.`);
    case "withdrawn":
      return notice(gate, `Nothing has happened: the call of ${tool} was taken back.`);
    case "indeterminate":
      return notice(gate, `It is not known whether ${tool} has happened. Look before you call it again.`);
    default:
      return undefined;
  }
}

/** A result as it came, or the error that came in its place. */
function readResult(text: string): JsonObject {
  const kept = parseExact(text) as { result: JsonObject } | { error: RpcFault };
  if ("result" in kept) return kept.result;
  throw new RpcError(kept.error);
}

function notice({ id, status, tool, reason }: Gate, text: string): JsonObject {
  return {
    isError: true,
    content: [{ type: "text", text }],
    structuredContent: { status, confirmation_id: id, tool, ...(reason !== undefined && { reason }) },
  };
}

/** Clients that open addresses for their users. */
function canBeShown({ caller }: Exchange): boolean {
  const { elicitation } = caller.capabilities;
  return isObject(elicitation) && isObject(elicitation.url);
}

async function show(
  { log }: TreeState,
  { approveUrl }: Gatekeeper,
  { ask }: Exchange,
  { id, tool }: Gate,
): Promise<void> {
  const params = {
    mode: "url",
    elicitationId: id,
    url: approveUrl(id),
    message: `${tool} waits for a human's approval`,
  };
  try {
    await ask({ approval: { method: "elicitation/create", params } });
  } catch (error) {
    // Whoever cannot or will not be shown it waits as everybody else does.
    log.debug({ err: error, gate: id }, "a gate could not be shown");
  }
}

/** Until something becomes of it, or waiting has become long. */
async function held(gates: Gatekeeper, exchange: Exchange, { id, tool }: Gate): Promise<void> {
  const { holdMs, holdWithProgressMs, waiting } = gates;
  const { signal, wantsProgress } = exchange;
  const until = performance.now() + (wantsProgress ? holdWithProgressMs : holdMs);
  const { promise: woken, resolve } = Promise.withResolvers<"woken">();
  const callbacks = waiting.get(id) ?? new Set();
  waiting.set(id, callbacks);
  const wake = () => resolve("woken");
  callbacks.add(wake);
  try {
    for (let sign = 1; performance.now() < until; sign += 1) {
      const ms = Math.min(signMs, until - performance.now());
      const passed = sleep(Math.max(0, ms), undefined, { signal, ref: false });
      if ((await Promise.race([woken, passed])) === "woken") return;
      exchange.notify("notifications/progress", { progress: sign, message: `${tool} waits for approval` });
    }
  } finally {
    callbacks.delete(wake);
    if (callbacks.size === 0 && waiting.get(id) === callbacks) waiting.delete(id);
  }
}
