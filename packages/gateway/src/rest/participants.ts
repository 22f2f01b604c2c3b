// GET /v0/topics/{topic}/participants: who is there. [X0-5.3-2]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import type { Gateway } from "../room/gateway-state.ts";
import { presentMembers } from "../room/present.ts";
import { listed } from "../room/room.ts";
import { topicOf } from "./caller.ts";

export async function listParticipants(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const topic = await topicOf(gateway, request);
  const owner = await gateway.ownership?.peerOf(topic);
  const participants =
    owner === undefined ? participantsHere(gateway, topic) : await owner.ask("room.participants", { topic });
  return { body: { participants } };
}

/** Those of a room that is served by this gateway. */
export function participantsHere({ rooms }: Gateway, topic: string): ReturnType<typeof listed>[] {
  const room = rooms.get(topic);
  return room === undefined ? [] : presentMembers(room).map(listed);
}
