// `mcpax/confirm` sent to the tree's participant: the same proof as anywhere, but the answer is read by everybody in the
// room, so that it says what was decided and never what the tool has answered. [B-GATE-2]
import type { JsonObject } from "@mcpx/protocol";
import { textParam } from "../catalogue/resolve.ts";
import { confirm, decideSoon, prove } from "../gates/confirm.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { principalName } from "../mcp/plain-caller.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { outcomeResult } from "./gate-words.ts";

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
  const by = principalName(caller.principal);
  return outcomeResult(await decideSoon(state, gates, gate, await prove(state, gates, gate, { proof, by })));
}
