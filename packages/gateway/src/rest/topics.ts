// GET /v0/topics: the topics the caller's token covers and no decision keeps from them. [X0-5.3-1]
import { type HttpRequest, type HttpResponse, mayEnter, type Principal } from "@mcpx/host";
import { topicOptions } from "../joining/open-room.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { everyTopic } from "../room/level-decisions.ts";
import { presentMembers } from "../room/present.ts";
import { callerOf, checkLevel, whyNot } from "./caller.ts";

export async function listTopics(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const principal = await callerOf(gateway, request);
  const isOpen = doors(gateway, principal);
  const known = await gateway.durableLog.topics();
  const topics = known
    .filter(({ name }) => mayEnter(principal, name) && isOpen(name))
    .map(({ name, seq }) => {
      const room = gateway.rooms.get(name);
      const hasHistory = topicOptions(gateway, name).history;
      return {
        name,
        participants: room === undefined ? 0 : presentMembers(room).length,
        seq: hasHistory ? seq : (room?.deliveredSeq ?? 0),
      };
    });
  // An empty list is for those who could enter a topic if there were one; others are told why not.
  if (topics.length === 0 && !principal.admin) checkLevel(gateway, principal, everyTopic);
  return { body: { topics } };
}

/** Which topics let somebody in whose token covers them. There may be thousands: without a decision about them they are alike. */
function doors(gateway: Gateway, principal: Principal): (topic: string) => boolean {
  const { id, admin } = principal;
  if (admin) return () => true;
  const isOpen = (topic: string) => whyNot(gateway, principal, topic) === undefined;
  if (id !== undefined && gateway.levelDecisions.isAbout(id)) return isOpen;
  const areOpen = isOpen(everyTopic);
  return () => areOpen;
}
