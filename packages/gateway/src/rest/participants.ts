// GET /v0/topics/{topic}/participants: who is there. [X0-5.3-2]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import type { Gateway } from "../room/gateway-state.ts";
import { presentMembers } from "../room/present.ts";
import { listed } from "../room/room.ts";
import { topicOf } from "./caller.ts";

export async function listParticipants(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const topic = await topicOf(gateway, request);
  const room = gateway.rooms.get(topic);
  return { body: { participants: room === undefined ? [] : presentMembers(room).map(listed) } };
}
