// GET /v0/topics/{topic}/participants: who is there. [X0-5.3-2]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import type { Gateway } from "../gateway-state.ts";
import { listed } from "../room.ts";
import { topicOf } from "./caller.ts";

export async function listParticipants(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const topic = await topicOf(gateway, request);
  const members = gateway.rooms.get(topic)?.members.values() ?? [];
  return { body: { participants: [...members].map(listed) } };
}
