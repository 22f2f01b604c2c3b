// Who is in a room, each participant once, however many connections it has.
import type { Member, Room } from "./room.ts";

/** Whether this is the participant's own socket, not one beside it. */
export function isOwn({ key, participant }: Member): boolean {
  return key === participant.id;
}

/** One connection of each participant: its own socket where it is there. */
export function presentMembers(room: Room): Member[] {
  const present = new Map<string, Member>();
  for (const member of room.members.values()) {
    if (isOwn(member) || !present.has(member.participant.id)) present.set(member.participant.id, member);
  }
  return [...present.values()];
}

/** Whether another connection of the same participant is in the room. */
export function isThereToo(member: Member): boolean {
  for (const other of member.room.members.values()) {
    if (other !== member && other.participant.id === member.participant.id) return true;
  }
  return false;
}

/** Whether it is the connection that answers for its participant: its own socket, else the first of the others. */
export function speaksFor(member: Member): boolean {
  const { members } = member.room;
  const { id } = member.participant;
  if (members.has(id)) return isOwn(member);
  for (const other of members.values()) if (other.participant.id === id) return other === member;
  return false;
}
