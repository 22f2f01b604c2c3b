// `mcpax/confirm` sent to the tree's participant: the same proof as anywhere, but the answer is read by everybody in the
// room, so that it says what was decided and never what the tool has answered. [B-GATE-2]
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonObject } from "@mcpx/protocol";
import { textParam } from "../catalogue/resolve.ts";
import { confirm, decide, prove } from "../gates/confirm.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import type { Gate } from "../gates/store/gate-store.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { principalName } from "../mcp/plain-caller.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { outcomeResult } from "./gate-words.ts";

/** How long an answer waits for what comes of the call. */
const outcomeMs = 8_000;

export async function confirmInRoom(
  state: TreeState,
  gates: Gatekeeper,
  exchange: Exchange,
): Promise<JsonObject> {
  const { params, caller } = exchange;
  const id = textParam(params, "confirmation_id");
  const gate = await gates.store.find(id);
  if (gate === undefined) {
    await confirm(state, gates, exchange);
    return { content: [{ type: "text", text: "The tree below has taken the proof." }] };
  }
  const proof = textParam(params, "proof");
  const proven = await prove(state, gates, gate, { proof, by: principalName(caller.principal) });
  await soon(decide(state, gates, gate, proven), (error) =>
    state.log.debug({ err: error, gate: id }, "a decision came to nothing"),
  );
  return outcomeResult((await gates.store.find(id)) ?? gate);
}

/** What is decided happens, also where nobody waits for its end. */
async function soon(deciding: Promise<Gate>, tell: (error: unknown) => void): Promise<void> {
  const left = new AbortController();
  try {
    await Promise.race([deciding, sleep(outcomeMs, undefined, { signal: left.signal, ref: false })]);
  } finally {
    left.abort();
    deciding.catch(tell);
  }
}
