// A press on the card of a call that waits at a gate. It counts as an approval of the person's own where an approver has
// signed that it does; the gate looks at the proof like at any other, and has the last word. [B-BRIDGE-2]
import { randomUUID } from "node:crypto";
import type { Proposal } from "@mcpx/client";
import { type GateNotice, roomMethods } from "@mcpx/protocol";
import type { Press } from "../platform.ts";
import type { Member } from "../rooms/bridge-rooms.ts";
import type { Card } from "../store/bridge-store.ts";
import type { BridgeCore } from "./bridge-core.ts";
import { introduce } from "./introduce.ts";
import { refusalText } from "./refusal-text.ts";

export interface GatePress {
  press: Press;
  card: Card;
  proposal: Proposal;
  notice: GateNotice;
}

/** What to tell the person who pressed; nothing where the card itself will show it. */
export async function pressGate(
  core: BridgeCore,
  topic: string,
  member: Member,
  { press, card, proposal, notice }: GatePress,
): Promise<string | undefined> {
  const { participant } = member;
  const decision = press.verb;
  const { reason } = press;
  try {
    const proof = await core.options.presses?.prove({
      ...{ terms: notice, user: press.user.key, participant, decision },
      ...(decision === "reject" && reason !== undefined && { reason }),
    });
    if (proof === undefined) return `Your press does not count as a signature. Open ${notice.approve_url}`;
    const roomConnection = await core.roomConnections.roomConnectionOf(member, topic);
    await introduce(roomConnection, card, proposal.proposer);
    const params = { confirmation_id: notice.confirmation_id, proof };
    await roomConnection.request(proposal.proposer, `sign-${randomUUID()}`, roomMethods.confirmGate, params);
    return undefined;
  } catch (error) {
    return `Your ${decision === "approve" ? "approval" : "rejection"} was not accepted: ${refusalText(error)}`;
  }
}
