// The end of a gate, told in its room as ends of proposals are: approved is a call of ours to ourselves, answered with
// what came of it; rejected, expired and withdrawn are said. [B-GATE-2]
import type { Proposal } from "@mcpx/client";
import type { JsonObject } from "@mcpx/protocol";
import type { Gate } from "../gates/store/gate-store.ts";
import type { Showing } from "./gate-proposals.ts";
import { outcomeFacts, outcomeResult, outcomeText } from "./gate-words.ts";

/** No tool takes longer, as far as a room is concerned. */
const callMs = 3_600_000;

/** `gate`: absent where it was so long ago that nothing is known of it. */
export async function endProposal(
  showing: Showing,
  proposal: Proposal | Pick<Proposal, "id">,
  gate: Gate | undefined,
): Promise<void> {
  const { room, advised, underWay } = showing;
  const { id } = proposal;
  if (gate !== undefined) {
    if (underWay.has(gate.id)) return;
    advised.delete(gate.id);
  }
  if ("status" in proposal && proposal.status !== "pending") return answerCall(showing, proposal, gate);
  const reason = gate === undefined ? "The call ended earlier." : outcomeText(gate);
  const payload = { reason, ...(gate && { mcpax: outcomeFacts(gate) }) };
  const about = { to: [room.id], correlation_id: id, payload };
  if (gate === undefined || gate.status === "expired") {
    await room.publish({ kind: "mcpx.withdraw.proposal", ...about });
  } else if (gate.status === "rejected") await room.publish({ kind: "mcpx.reject.proposal", ...about });
  else if (!isUndecided(gate)) callOurselves(showing, proposal, gate);
}

/** Enough have approved, and it was not let go: it will be, or its time will be over. */
function isUndecided({ status }: Gate): boolean {
  return status === "pending" || status === "approved";
}

/** Its answer comes from `ownEnd`, when there is something to say. */
function callOurselves(
  { room, underWay, log }: Showing,
  proposal: Proposal | Pick<Proposal, "id">,
  gate: Gate,
): void {
  underWay.set(gate.id, Promise.withResolvers());
  if (gate.status !== "consumed") underWay.get(gate.id)?.resolve(gate);
  const whole = "status" in proposal ? proposal : standIn(room.id, gate, proposal.id);
  room.proposals
    .fulfil(whole, { target: room.id, timeoutMs: callMs })
    .catch((error: unknown) => {
      // Told again when the room is back.
      log.debug({ err: error, gate: gate.id, room: room.topic }, "could not tell a room that a gate ended");
    })
    .finally(() => underWay.delete(gate.id));
}

/** Where the room's past, as far as we have read it, does not reach back to it. */
function standIn(us: string, { tool, createdAt, expiresAt }: Gate, id: string): Proposal {
  return {
    id,
    proposer: us,
    targets: [us],
    method: "tools/call",
    params: { name: tool },
    createdAt,
    expiresAt,
    status: "pending",
    rejections: [],
    statuses: [],
  };
}

/** We have ended between our call and its answer: the room has waited for it since. */
async function answerCall({ room }: Showing, proposal: Proposal, gate: Gate | undefined): Promise<void> {
  const { fulfilment, result, error } = proposal;
  const isAnswered = result !== undefined || error !== undefined;
  if (fulfilment === undefined || isAnswered || fulfilment.fulfiller !== room.id || gate === undefined)
    return;
  const call = room.recent.find(({ id }) => id === fulfilment.envelopeId);
  if (call === undefined || gate.status === "consumed") return;
  const payload: JsonObject = { jsonrpc: "2.0", id: call.payload.id, result: outcomeResult(gate) };
  await room.publish({ kind: "mcp", to: [room.id], correlation_id: call.id, payload });
}
