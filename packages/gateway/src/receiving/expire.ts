// A token's end is its connection's end: seen at the next envelope or sweep, whichever comes first. [X0-5.1-2]
import { closeCodes } from "@mcpx/protocol";
import { expel } from "../delivery/expel.ts";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";

/** Whether the member's token has ended; then it is out. */
export function expelIfExpired(gateway: Gateway, member: Member): boolean {
  const { principal, participant, room } = member;
  if (gateway.clock.now() < principal.expiresAt) return false;
  gateway.audit.record({
    action: "closed",
    reason: "token_expired",
    actor: participant.id,
    topic: room.topic,
  });
  expel(gateway, member, closeCodes.unauthorised, "token_expired");
  return true;
}
