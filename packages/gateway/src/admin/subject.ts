// Whom an admin's request is about.
import type { HttpRequest } from "@mcpx/host";
import { isId, McpxError } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import { isOwn } from "../room/present.ts";
import type { Member } from "../room/room.ts";

/** The participant of the path and, where the query narrows it, the topic. Never seen is a 404. [X1-10.3-2] */
export function subjectOf(gateway: Gateway, request: HttpRequest): { id: string; topic: string | undefined } {
  const id = request.params.id;
  const topic = request.query.get("topic") ?? undefined;
  if (!isId(id)) throw new McpxError("bad_request", "invalid participant id");
  if (topic !== undefined && !isId(topic))
    throw new McpxError("bad_request", "topic must be the name of a topic");
  if (!gateway.participants.wasSeen(id, topic)) {
    throw new McpxError("not_found", "no participant with this id was ever here");
  }
  return { id, topic };
}

export function liveMembers({ rooms }: Gateway, id: string, topic: string | undefined): Member[] {
  return [...rooms.values()]
    .filter((room) => topic === undefined || room.topic === topic)
    .flatMap((room) => [...room.members.values()])
    .filter((member) => member.participant.id === id);
}

/** A participant's own socket where it is there, of each room. */
export function onePerRoom(members: readonly Member[]): Member[] {
  return [...new Set(members.map(({ room }) => room))].map((room) => {
    const here = members.filter((member) => member.room === room);
    return here.find(isOwn) ?? (here[0] as Member);
  });
}
