// An admin's decision about a participant's level: kept, recorded, and then in force at every gateway.
import type { Level } from "@mcpx/protocol";
import { applyDecision, liveMembers } from "../delivery/apply-decision.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { everyTopic } from "../room/level-decisions.ts";
import { isOwn } from "../room/present.ts";
import type { DecidedLevel } from "../state/room-state.ts";

interface Decision {
  verb: "kick" | "promote" | "demote";
  id: string;
  topic: string | undefined;
  level: DecidedLevel;
  by: string;
  at: number;
  detail?: Record<string, unknown>;
}

/** Resolves with the number of connections it was about. */
export async function decideLevel(gateway: Gateway, decision: Decision): Promise<number> {
  const { verb, id, topic, level, by, at, detail } = decision;
  await gateway.levelDecisions.decide(id, topic, level, by, at);
  const record = { action: `participant.${verb}`, actor: by, subject: id, topic };
  await gateway.audit.recordNow(detail === undefined ? record : { ...record, detail });
  const news = { id, topic: topic ?? everyTopic, level, by };
  // Also those who came in meanwhile, by what counted until then.
  const here = applyDecision(gateway, news);
  const elsewhere = ((await gateway.news?.tell("level", news)) ?? []) as (number | null)[];
  return elsewhere.reduce<number>((sum, count) => sum + (count ?? 0), here);
}

/** Of a live connection at this gateway. */
export function liveLevelHere(gateway: Gateway, id: string, topic: string | undefined): Level | undefined {
  const members = liveMembers(gateway, id, topic);
  return (members.find(isOwn) ?? members[0])?.level;
}

/** Of a live connection at any gateway. */
export async function liveLevel(
  gateway: Gateway,
  id: string,
  topic: string | undefined,
): Promise<Level | undefined> {
  const here = liveLevelHere(gateway, id, topic);
  if (here !== undefined) return here;
  const elsewhere = (await gateway.neighbours?.askAll("participant.level", { id, topic })) ?? [];
  return elsewhere.find((level) => level !== null) as Level | undefined;
}
