// Somebody in the room has rejected a gate. From an approver that ends it; of anybody else it is advice, which is
// recorded and stands in the room. [B-GATE-2]
import type { Proposal } from "@mcpx/client";
import { gateReasonCharsMax, isMcpxError } from "@mcpx/protocol";
import { anchorsNow, wake } from "../gates/gatekeeper.ts";
import { gateEvent, recordFirst } from "../gates/store/gate-records.ts";
import type { Gate } from "../gates/store/gate-store.ts";
import type { Showing } from "./gate-proposals.ts";

const adviceMax = 100;

export async function takeAdvice(
  showing: Showing,
  gateId: string,
  { id, rejections }: Proposal,
  by: string,
): Promise<void> {
  const { room, gates, state, advised } = showing;
  const gate = await gates.store.find(gateId);
  if (gate?.status !== "pending") return;
  // The latest: they may have said more since.
  const { reason: said } =
    (room.proposals.get(id)?.rejections ?? rejections).find((one) => one.by === by) ?? {};
  const reason = said?.toWellFormed().slice(0, gateReasonCharsMax);
  if (await isApprover(showing, by)) return await reject(showing, gate, by, reason);
  const before = advised.get(gateId) ?? new Set();
  if (before.has(by) || before.size >= adviceMax) return;
  advised.set(gateId, before.add(by));
  state.audit?.record(
    gateEvent("advice", by, gate, { room: room.topic, ...(reason !== undefined && { reason }) }),
  );
}

async function reject(
  { room, gates, state, log }: Showing,
  gate: Gate,
  by: string,
  reason: string | undefined,
): Promise<void> {
  try {
    const rejected = await gates.store.reject(gate.id, { by, reason });
    await recordFirst(state.audit, gateEvent("reject", by, rejected, { room: room.topic }));
    wake(gates, rejected);
  } catch (error) {
    if (!isMcpxError(error)) throw error;
    log.debug({ err: error, gate: gate.id }, "rejection in the room came too late");
  }
}

/** Their token says who they are; an id that was only asserted at the endpoint is nobody's. */
async function isApprover({ gates, principalsOf }: Showing, id: string): Promise<boolean> {
  const principals = principalsOf(id);
  // Nothing is known of a participant that has left.
  const isProven = principals.length > 0 && principals.every((one) => one.id === id);
  return isProven && (await anchorsNow(gates)).some(({ name }) => name === id);
}
