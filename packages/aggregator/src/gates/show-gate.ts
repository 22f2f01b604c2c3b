// A client that opens addresses for its user is asked to open the page where a gate is decided (an elicitation of mode
// `url`), and is notified when somebody has decided, there or elsewhere.
import { isObject } from "@mcpx/protocol";
import type { Caller, Exchange } from "../mcp/exchange.ts";
import { nameIn } from "../names/dialects.ts";
import type { TreeState } from "../servers/tree-state.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import type { Gate } from "./store/gate-store.ts";

/** What is needed to show it. */
export type ShownGate = Pick<Gate, "id" | "status" | "tool">;

const complete = "notifications/elicitation/complete";
const shownMax = 10_000;

/**
 * Where somebody can decide there, and the client opens addresses: once, however often its model asks or waits. True
 * where its user has gone there and nobody has decided meanwhile.
 */
export async function showGate(
  { log }: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
  { id, tool, status }: ShownGate,
): Promise<boolean> {
  const { approveUrl, obstacle, store } = gates;
  const { caller } = exchange;
  if (obstacle !== undefined || !canBeShown(caller) || !isFirst(gates, `${id} ${status} ${caller.key}`))
    return false;
  const name = nameIn(caller.dialect, tool);
  const message =
    status === "held"
      ? `The result of ${name} waits for a human to look at it`
      : `${name} waits for a human's approval`;
  const params = { mode: "url", elicitationId: id, url: approveUrl(id), message };
  let isDecided = false;
  const forget = onChange(gates, id, async () => {
    // One of several approvals decides nothing.
    if ((await store.find(id))?.status === status) return;
    isDecided = true;
    tellDecided(exchange, id);
  });
  try {
    const { approval } = await exchange.ask({ approval: { method: "elicitation/create", params } });
    return approval?.action === "accept" && !isDecided;
  } catch (error) {
    // A client that cannot show the question waits like every other client.
    log.debug({ err: error, gate: id }, "could not show a gate to the client");
    return false;
  } finally {
    forget();
  }
}

/** To a client whose user has been sent to a gate that is decided now. */
export function tellDecided({ caller, notify }: Exchange, id: string): void {
  // Clients of the new era have been asked by an answer, and know it by the next.
  if (caller.era === "legacy") notify(complete, { elicitationId: id });
}

/** Calls back when a gate changes, until the watcher is removed. */
export function onChange(
  { waiting }: Pick<Gatekeeper, "waiting">,
  id: string,
  wake: () => unknown,
): () => void {
  const callbacks = waiting.get(id) ?? new Set();
  waiting.set(id, callbacks.add(wake));
  return () => {
    callbacks.delete(wake);
    if (callbacks.size === 0 && waiting.get(id) === callbacks) waiting.delete(id);
  };
}

function isFirst({ shown }: Pick<Gatekeeper, "shown">, what: string): boolean {
  if (shown.has(what)) return false;
  const [oldest] = shown;
  if (shown.size >= shownMax && oldest !== undefined) shown.delete(oldest);
  shown.add(what);
  return true;
}

/** Clients that open addresses for their users. */
function canBeShown({ capabilities: { elicitation } }: Pick<Caller, "capabilities">): boolean {
  return isObject(elicitation) && isObject(elicitation.url);
}
