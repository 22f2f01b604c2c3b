// A member leaves: it is gone, the gateway sends it away, or its token has ended. It gets nothing more, and the others
// are told.
import { type CloseCode, closeCodes } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import { isThereToo } from "../room/present.ts";
import type { Member } from "../room/room.ts";
import { announcePresence } from "./announce.ts";

export function leave(gateway: Gateway, member: Member, reason: string): void {
  if (member.hasLeft) return;
  member.hasLeft = true;
  const { room, participant } = member;
  room.members.delete(member.key);
  if (!isThereToo(member)) announcePresence(gateway, member, "leave", { reason });
  gateway.log.info({ topic: room.topic, id: participant.id, reason }, "participant left room");
}

/** The gateway ends a connection: the member is out at once, the close code tells it why. */
export function expel(gateway: Gateway, member: Member, code: CloseCode, reason: string): void {
  if (member.hasLeft) return;
  leave(gateway, member, reason);
  member.socket.close(code, reason);
}

/**
 * A token's end is its connection's end: seen at the next envelope or sweep, whichever comes first. Says whether the
 * member is out. [X0-5.1-2]
 */
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
