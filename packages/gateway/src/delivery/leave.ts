// A member is gone: it gets nothing more, and the others are told.

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
  gateway.log.info({ topic: room.topic, id: participant.id, reason }, "left");
}
