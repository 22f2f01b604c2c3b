// GET /v0/topics: the topics the caller's token covers and no decision keeps from them. [X0-5.3-1]
import { type HttpRequest, type HttpResponse, mayEnter, type Principal } from "@mcpx/host";
import { topicOptions } from "../joining/open-room.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { everyTopic } from "../room/level-decisions.ts";
import type { WaitingProposal } from "../room/open-proposals.ts";
import { presentMembers } from "../room/present.ts";
import { callerOf, checkLevel, whyNot } from "./caller.ts";

export async function listTopics(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const principal = await callerOf(gateway, request);
  const isOpen = endpoints(gateway, principal);
  const known = await gateway.durableLog.topics();
  const counts = await countsOf(gateway);
  const topics = known
    .filter(({ name }) => mayEnter(principal, name) && isOpen(name))
    .map(({ name, seq }) => {
      const { participants, seq: live, waiting = [] } = counts.get(name) ?? { participants: 0, seq: 0 };
      const hasHistory = topicOptions(gateway, name).history;
      return { name, participants, seq: hasHistory ? seq : live, ...(waiting.length > 0 && { waiting }) };
    });
  // An empty list is for those who could enter a topic if there were one; others are told why not.
  if (topics.length === 0 && !principal.admin) checkLevel(gateway, principal, everyTopic);
  return { body: { topics } };
}

interface RoomCount {
  name: string;
  participants: number;
  /** Of what was delivered last. */
  seq: number;
  /** Proposals that wait for somebody; absent where none does. */
  waiting?: WaitingProposal[] | undefined;
}

/** Of one room: more are found when some of these are decided. */
const waitingMax = 100;

/** Of the rooms that are open at this gateway. */
export function countsHere({ rooms, openProposals, clock }: Gateway): RoomCount[] {
  const waiting = openProposals.waiting(clock.now(), waitingMax);
  return [...rooms.values()].map((room) => ({
    name: room.topic,
    participants: presentMembers(room).length,
    seq: room.deliveredSeq,
    waiting: waiting.get(room.topic),
  }));
}

async function countsOf(gateway: Gateway): Promise<Map<string, RoomCount>> {
  const elsewhere = (await gateway.neighbours?.askAll("rooms.counts", {})) as RoomCount[][] | undefined;
  const all = [...(elsewhere ?? []).flat(), ...countsHere(gateway)];
  return new Map(all.map((count) => [count.name, count]));
}

/** Which topics let somebody in whose token covers them. There may be thousands: without a decision about them they are alike. */
function endpoints(gateway: Gateway, principal: Principal): (topic: string) => boolean {
  const { id, admin } = principal;
  if (admin) return () => true;
  const isOpen = (topic: string) => whyNot(gateway, principal, topic) === undefined;
  if (id !== undefined && gateway.levelDecisions.isAbout(id)) return isOpen;
  const areOpen = isOpen(everyTopic);
  return () => areOpen;
}
