// A level changes on live connections, at once, and their rooms are told. [X1-5.1-2] [X1-10.3-2]
import type { Level } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";
import { announceSystem } from "./announce.ts";

/** The connections are those of one participant; a room is told once. */
export function changeLevel(gateway: Gateway, members: readonly Member[], level: Level, by: string): void {
  const changing = members.filter((member) => member.level !== level);
  for (const room of new Set(changing.map((member) => member.room))) {
    const here = changing.filter((member) => member.room === room);
    const [{ participant, level: old }] = here as [Member];
    for (const member of here) member.level = level;
    const payload = { event: "privilege_changed", participant: participant.id, old, new: level, by };
    // Its other connections may have come with another token: this is not about them.
    const concerns = (one: Member) => one.participant.id !== participant.id || one.level === level;
    announceSystem(gateway, room, payload, concerns);
  }
}
