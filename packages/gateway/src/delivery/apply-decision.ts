// What an admin has decided about a participant's level, on its live connections at this gateway.
import { closeCodes } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import { isOwn } from "../room/present.ts";
import type { Member } from "../room/room.ts";
import type { LevelDecision } from "../state/room-state.ts";
import { announceSystem } from "./announce.ts";
import { changeLevel } from "./change-level.ts";
import { expel } from "./leave.ts";

/** `topic` may be `*`. Says how many connections it has found. */
export function applyDecision(
  gateway: Gateway,
  { id, topic, level, by }: LevelDecision & { by: string },
): number {
  const members = liveMembers(gateway, id, topic === "*" ? undefined : topic);
  if (level === "none") kickOut(gateway, members, by);
  else changeLevel(gateway, members, level, by);
  return members.length;
}

function kickOut(gateway: Gateway, members: readonly Member[], by: string): void {
  for (const member of members) expel(gateway, member, closeCodes.forbidden, "kicked");
  for (const { room, participant, level: old } of onePerRoom(members)) {
    const payload = { event: "privilege_changed", participant: participant.id, old, new: "none", by };
    announceSystem(gateway, room, payload);
  }
}

export function liveMembers({ rooms }: Gateway, id: string, topic: string | undefined): Member[] {
  return [...rooms.values()]
    .filter((room) => topic === undefined || room.topic === topic)
    .flatMap((room) => [...room.members.values()])
    .filter((member) => member.participant.id === id);
}

/** A participant's own socket where it is there, of each room. */
function onePerRoom(members: readonly Member[]): Member[] {
  return [...new Set(members.map(({ room }) => room))].map((room) => {
    const here = members.filter((member) => member.room === room);
    return here.find(isOwn) ?? (here[0] as Member);
  });
}
