// What an aggregator answers to `mcpax/register`: believed only where it makes sense. [AX-6.2-1]
import {
  heartbeatMsMax,
  heartbeatMsMin,
  isUuid,
  type JsonObject,
  type RegistrationAnswer,
} from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";

export function readAnswer(answer: JsonObject): RegistrationAnswer {
  const { status, assigned_segment, session_id, aggregator_id, epoch } = answer;
  const { heartbeat_interval_ms: interval, heartbeat_deadline_ms: deadline, lease_ms: lease } = answer;
  if (status !== "registered") throw wrong("status");
  if (typeof assigned_segment !== "string") throw wrong("assigned_segment");
  if (typeof session_id !== "string" || session_id === "") throw wrong("session_id");
  if (!isUuid(aggregator_id)) throw wrong("aggregator_id");
  if (typeof epoch !== "number") throw wrong("epoch");
  if (typeof interval !== "number" || !isInterval(interval)) throw wrong("heartbeat_interval_ms");
  if (!isBetween(deadline, interval, missedMax * interval)) throw wrong("heartbeat_deadline_ms");
  // A lease that is shorter than the heartbeats that renew it would end by itself.
  if (!isBetween(lease, interval, deadline)) throw wrong("lease_ms");
  return { ...(answer as unknown as RegistrationAnswer), refused_subserver_ids: readRefused(answer) };
}

/** Of an update's answer too. [AX-13.4-1] */
export function readRefused({ refused_subserver_ids: ids = [] }: JsonObject): readonly string[] {
  if (!Array.isArray(ids) || !ids.every(isUuid)) throw wrong("refused_subserver_ids");
  return ids;
}

/** Nobody waits for more; and nobody has more heartbeats open at a time. */
const missedMax = 100;

function isBetween(value: unknown, min: number, max: number): value is number {
  return typeof value === "number" && value >= min && value <= max;
}

function isInterval(ms: number): boolean {
  return ms === 0 || (ms >= heartbeatMsMin && ms <= heartbeatMsMax);
}

function wrong(field: string): RoomError {
  return new RoomError("bad_answer", `the aggregator's answer has a wrong ${field}`);
}
