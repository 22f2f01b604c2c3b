// The first envelope of a connection: who this participant is, who else is there, and where the stream begins.

import { isId, isLevel, isObject, type Level, numeric, written } from "@mcpx/protocol";
import type { Position } from "../core/position.ts";
import { isRoomEnvelope, type RoomEnvelope } from "../core/room-envelope.ts";
import { type Participant, readParticipant } from "../core/roster.ts";

export interface Welcome {
  id: string;
  level: Level;
  participants: Participant[];
  connectionId: string;
  position: Position;
  /** Whether what is said is kept for those who come later. */
  hasHistory: boolean;
  /** The envelopes that were asked for, oldest first. */
  recent: RoomEnvelope[];
  /** Why history does not reach back to where we were; absent where it does or was not asked. */
  refusedResume?: string;
  /** The gateway's time. */
  atMs: number;
}

export function readWelcome({ payload, ts }: RoomEnvelope): Welcome | undefined {
  const { participant, participants, history, connection_id } = payload;
  if (!isObject(participant) || !isId(participant.id) || !isLevel(participant.privilege)) return undefined;
  if (!isObject(history) || typeof history.epoch !== "string" || !Number.isSafeInteger(history.seq))
    return undefined;
  const listed = Array.isArray(participants) ? participants : [];
  const envelopes = Array.isArray(history.envelopes) ? history.envelopes : [];
  return {
    id: participant.id,
    level: participant.privilege,
    participants: listed.map(readParticipant).filter((one) => one !== undefined),
    connectionId: written(connection_id),
    position: { epoch: history.epoch, seq: numeric(history.seq) },
    hasHistory: history.enabled !== false,
    recent: envelopes.filter(isRoomEnvelope),
    ...(payload.resumed === false ? { refusedResume: written(payload.reason) } : {}),
    atMs: Date.parse(written(ts)),
  };
}
