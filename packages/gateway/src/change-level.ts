// A level changes on a live connection, at once, and the room is told. [X1-5.1-2] [X1-10.3-2]
import type { Level } from "@mcpx/protocol";
import { announceSystem } from "./announce.ts";
import type { Gateway } from "./gateway-state.ts";
import type { Member } from "./room.ts";

export function changeLevel(gateway: Gateway, member: Member, level: Level, by: string): void {
  const old = member.level;
  if (old === level) return;
  member.level = level;
  announceSystem(gateway, member.room, {
    event: "privilege_changed",
    participant: member.participant.id,
    old,
    new: level,
    by,
  });
}
