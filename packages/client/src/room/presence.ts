// Comings and goings, and what they mean for handshakes and for calls under way.

import { isLevel, isObject, type Level, written } from "@mcpx/protocol";
import { shakeHandsEagerly } from "../calls/handshake.ts";
import type { Welcome } from "../connection/welcome.ts";
import type { RoomCore } from "../core/room-core.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import { type Participant, readParticipant } from "../core/roster.ts";

/** What the gateway tells everybody. */
export function takeNotice(core: RoomCore, envelope: RoomEnvelope): void {
  core.events.emit("envelope", envelope);
  const { kind, payload } = envelope;
  const participant = kind === "presence" ? readParticipant(payload.participant) : undefined;
  if (participant !== undefined) {
    const { event, reason } = payload;
    const more = typeof reason === "string" ? { reason } : {};
    if (event === "join") joined(core, participant);
    if (event === "leave") left(core, participant, more);
    if (event === "heartbeat") {
      if (participant.id !== core.id) core.roster.set(participant);
      core.events.emit("presence", { event, participant });
    }
  }
  if (kind === "system" && payload.event === "privilege_changed") changeLevel(core, envelope);
}

/** A new connection: nothing of the old one holds but what was called over it. */
export function takeWelcome(core: RoomCore, welcome: Welcome): void {
  const { id, level } = welcome;
  const old = core.level;
  const isFirst = core.id === "";
  core.id = id;
  core.level = level;
  core.hasHistory = welcome.hasHistory;
  core.connectionId = welcome.connectionId;
  core.clockOffsetMs = welcome.atMs > 0 ? welcome.atMs - Date.now() : 0;
  core.handshakes.clear();
  if (isFirst) {
    core.recent = welcome.recent;
    for (const participant of welcome.participants) core.roster.set(participant);
  } else {
    if (old !== level) core.events.emit("level", { participant: id, old, new: level, by: "gateway" });
    for (const { event, participant } of core.roster.replace(welcome.participants)) {
      if (event === "join") joined(core, participant);
      else left(core, participant, { reason: "unseen" });
    }
  }
  if (core.options.handshake === "eager") {
    for (const participant of core.roster.all()) void shakeHandsEagerly(core, participant.id);
  }
}

function joined(core: RoomCore, participant: Participant): void {
  if (participant.id === core.id) return;
  core.roster.set(participant);
  core.handshakes.delete(participant.id);
  clearTimeout(core.graces.get(participant.id));
  core.graces.delete(participant.id);
  core.events.emit("presence", { event: "join", participant });
  if (core.options.handshake === "eager") void shakeHandsEagerly(core, participant.id);
}

function left(core: RoomCore, participant: Participant, more: { reason?: string }): void {
  const { id } = participant;
  if (id === core.id) return;
  core.roster.delete(id);
  core.handshakes.delete(id);
  clearTimeout(core.graces.get(id));
  const timer = setTimeout(() => {
    core.graces.delete(id);
    core.calls.failAll(new RoomError("peer_left", `${id} has left the room`), ({ peer }) => peer === id);
    for (const receiver of [...core.receivers]) receiver.ended(id);
    core.served?.ended(id);
  }, core.options.peerGraceMs);
  core.graces.set(id, timer);
  core.events.emit("presence", { event: "leave", participant, ...more });
}

function changeLevel(core: RoomCore, { payload }: RoomEnvelope): void {
  const { participant, old, by } = payload;
  const level = payload.new;
  const id = isObject(participant) ? participant.id : participant;
  if (typeof id !== "string" || !(isLevel(level) || level === "none")) return;
  if (id === core.id && level !== "none") core.level = level;
  const known = core.roster.get(id);
  if (known !== undefined && level !== "none") core.roster.set({ ...known, privilege: level });
  const was: Level | undefined = isLevel(old) ? old : undefined;
  core.events.emit("level", { participant: id, old: was, new: level, by: written(by) });
}
