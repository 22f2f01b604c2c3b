// GET /v0/topics: the topics the caller's token covers. [X0-5.3-1]
import { type HttpRequest, type HttpResponse, mayEnter } from "@mcpx/host";
import type { Gateway } from "../gateway-state.ts";
import { topicOptions } from "../open-room.ts";
import { presentMembers } from "../present.ts";
import { callerOf } from "./caller.ts";

export async function listTopics(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const principal = await callerOf(gateway, request);
  const known = await gateway.durableLog.topics();
  const topics = known
    .filter(({ name }) => mayEnter(principal, name))
    .map(({ name, seq }) => {
      const room = gateway.rooms.get(name);
      const hasHistory = topicOptions(gateway, name).history;
      return {
        name,
        participants: room === undefined ? 0 : presentMembers(room).length,
        seq: hasHistory ? seq : (room?.deliveredSeq ?? 0),
      };
    });
  return { body: { topics } };
}
