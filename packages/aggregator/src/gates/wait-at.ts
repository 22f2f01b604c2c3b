// Waiting for a human without breaking the client: shown an address where it can be, held for a while with signs of
// life, then answered with what it waits for. Asking again joins. [AX-11.3-1]
import { setTimeout as sleep } from "node:timers/promises";
import { confirmationRequired, type JsonObject, McpxError, parseExact } from "@mcpx/protocol";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { RpcError, type RpcFault } from "../mcp/rpc-error.ts";
import { type Dialect, nameIn } from "../names/dialects.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { waitAdvice } from "./advise.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { onChange, type ShownGate, showGate, tellDecided } from "./show-gate.ts";
import { type Gate, type GateStatus, termsOf } from "./store/gate-store.ts";

const signMs = 2_000;
/** Nobody hears it but the time its class has, which begins again. */
const unheardSignMs = 30_000;

/** `leftMs`: how long it is held; as a call is, unless given. */
export async function waitAt(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  { id }: Pick<Gate, "id">,
  leftMs = exchange.wantsProgress ? gates.holdWithProgressMs : gates.holdMs,
): Promise<JsonObject> {
  const wait = { leftMs, signs: 0 };
  const shown = new Set<GateStatus>();
  let isThere = false;
  for (;;) {
    const { told, now } = await glance(gates, exchange.caller, id);
    if (isThere && (told !== undefined || !isUndecided(now))) {
      tellDecided(exchange, id);
      isThere = false;
    }
    if (told !== undefined) return told;
    if (isUndecided(now) && !shown.has(now.status)) {
      // Once for the call, and once for its result.
      shown.add(now.status);
      isThere = await showGate(state, gates, exchange, now);
    } else if (wait.leftMs > 0) await held(gates, exchange, now, wait);
    else return confirmation(state, gates, exchange.caller, await look(gates, { id }));
  }
}

/** A thousand may wait at one gate: none of them keeps its arguments in memory meanwhile. */
async function glance(
  gates: Gatekeeper,
  caller: Caller,
  id: string,
): Promise<{ told: JsonObject | undefined; now: ShownGate }> {
  const gate = await look(gates, { id });
  const { status, tool } = gate;
  return { told: await outcome(gates, caller, gate), now: { id, status, tool } };
}

/** Forgotten only when it is over for long, and there were many after it. */
async function look({ store }: Gatekeeper, { id }: Pick<Gate, "id">): Promise<Gate> {
  const gate = await store.find(id);
  if (gate === undefined) throw new McpxError("confirmation_unknown");
  return gate;
}

/** Somebody has to decide, and not the tool. */
function isUndecided({ status }: Pick<Gate, "status">): boolean {
  return status === "pending" || status === "held";
}

/** What the caller is answered with while nobody has decided. */
function confirmation(
  state: TreeState,
  { aggregatorId, approveUrl, obstacle }: Gatekeeper,
  caller: Caller,
  gate: Gate,
): JsonObject {
  return confirmationRequired({
    ...termsOf(gate, aggregatorId),
    arguments: parseExact(gate.argumentsText),
    annotation: gate.capability,
    approve_url: approveUrl(gate.id),
    shownTool: nameIn(caller.dialect, gate.tool),
    wait: waitAdvice(state, caller, gate.id),
    obstacle,
    below: gate.review === undefined ? gate.below : undefined,
    isUnderWay: !isUndecided(gate),
  });
}

/** The outcome, told once; `undefined` while it is open. */
export async function outcome(
  gates: Gatekeeper,
  { dialect }: Pick<Caller, "dialect">,
  gate: Gate,
): Promise<JsonObject | undefined> {
  const told = tell(gate, dialect);
  if (told === undefined) return undefined;
  const isFirst = await gates.store.deliver(gate.id);
  // Two callers that got one approval would make two calls.
  if (gate.isForOneHearer === true && gate.status === "done" && !isFirst) {
    throw new McpxError("confirmation_used", "its approval was given to another call; ask again");
  }
  return told;
}

/** The outcome in words; `undefined` while the gate is open. */
export function tell(gate: Gate, dialect: Dialect): JsonObject | undefined {
  const { status, resultText, rejectedBy, reason } = gate;
  const tool = nameIn(dialect, gate.tool);
  switch (status) {
    case "done":
    case "failed":
      if (resultText !== undefined) return readResult(resultText);
      return notice(gate, `${tool} was called, but its result was too large to keep.`);
    case "rejected": {
      const why = reason === undefined ? "" : `: ${reason}`;
      return notice(gate, `Nothing has happened: ${rejectedBy ?? "a human"} has rejected this call${why}`);
    }
    case "refused":
      return notice(
        gate,
        `Nothing has happened: ${tool} was approved and not sent: ${reason ?? "it has changed"}`,
      );
    case "expired":
      return notice(gate, `Nothing has happened: nobody has approved ${tool} in time.`);
    case "withheld":
      return notice(gate, `The call was made; its result was withheld: ${reason ?? "it was not released"}`);
    case "indeterminate":
      return notice(
        gate,
        `It is not known whether ${tool} was carried out. Check what it changed before you call it again.`,
      );
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

function notice({ id, status, tool, reason, refusal }: Gate, text: string): JsonObject {
  return {
    isError: true,
    content: [{ type: "text", text }],
    // Some clients show their model nothing else.
    structuredContent: {
      status,
      message: text,
      confirmation_id: id,
      tool,
      ...(refusal !== undefined && { refusal }),
      ...(reason !== undefined && { reason }),
    },
  };
}

/** The time the caller still waits, and the progress notifications it was sent. */
interface WaitLeft {
  leftMs: number;
  signs: number;
}

/** Resolves when the gate changes, or when the time to wait is over. */
async function held(gates: Gatekeeper, exchange: Exchange, gate: ShownGate, wait: WaitLeft): Promise<void> {
  const { id, status } = gate;
  const { dialect } = exchange.caller;
  const everyMs = exchange.wantsProgress ? signMs : unheardSignMs;
  const until = performance.now() + wait.leftMs;
  const leftMs = () => until - performance.now();
  const { promise: woken, resolve } = Promise.withResolvers<"woken">();
  const forget = onChange(gates, id, () => resolve("woken"));
  try {
    // A change since the last look would wake no waiter, so it is looked at again.
    if ((await look(gates, gate)).status !== status) return;
    while (leftMs() > 0) {
      const passed = sleep(Math.max(0, Math.min(everyMs, leftMs())), undefined, {
        signal: exchange.signal,
        ref: false,
      });
      if ((await Promise.race([woken, passed])) === "woken") return;
      wait.signs += 1;
      exchange.notify("notifications/progress", {
        progress: wait.signs,
        message: signText(gate, dialect),
      });
    }
  } finally {
    wait.leftMs = leftMs();
    forget();
  }
}

function signText(gate: ShownGate, dialect: Dialect): string {
  const { status } = gate;
  const tool = nameIn(dialect, gate.tool);
  if (status === "held") return `the result of ${tool} waits to be released`;
  return status === "pending" ? `${tool} waits for approval` : `${tool} is being called`;
}
