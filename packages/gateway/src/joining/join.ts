// A participant comes in: the welcome first, then what it missed, then live; the others are told.
import { randomUUID } from "node:crypto";
import { closeCodes, type Limits } from "@mcpx/protocol";
import { announcePresence } from "../delivery/announce.ts";
import { single } from "../delivery/batch.ts";
import { expel } from "../delivery/leave.ts";
import { renderEntry } from "../delivery/render.ts";
import { systemTextRaw } from "../delivery/system-envelope.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { isThereToo, presentMembers } from "../room/present.ts";
import { listed, type Member, type Room } from "../room/room.ts";
import { isServing } from "../room/senders.ts";
import { readPage } from "../topic-log/read-page.ts";
import type { Entry } from "../topic-log/topic-log.ts";
import type { RoomSocket } from "../transports/socket.ts";
import type { Admission } from "./admit.ts";
import { catchUp } from "./catch-up.ts";

/** What was read from the log for a newcomer, before it is in the room. */
export interface Preparation {
  room: Room;
  /** Where its stream begins: everything after this seq is given to it. */
  position: number;
  resumed?: { ok: true } | { ok: false; reason: string };
  recent: Entry[];
}

/** Reads what the welcome needs. Runs before the handshake is answered, so that failing is an HTTP error. */
export async function prepareJoin(
  room: Room,
  { resume, historyCount }: Admission,
  { queueBytesMax }: Pick<Limits, "queueBytesMax">,
  turn?: RoomSocket["turn"],
): Promise<Preparation> {
  const { first, last } = await room.log.bounds(room.topic);
  const verdict = resume === undefined ? undefined : judgeResume(room, resume, first, last);
  if (verdict?.ok) return { room, position: resume?.seq ?? last, resumed: verdict, recent: [] };
  const wantsRecent = historyCount > 0 && room.hasHistory;
  const page = { before: last + 1, limit: historyCount, bytesMax: queueBytesMax / 2, turn };
  const recent = wantsRecent ? (await readPage(room.log, room.topic, page)).entries : [];
  return { room, position: last, recent, ...(verdict === undefined ? {} : { resumed: verdict }) };
}

/** Exact or refused, never partial. [B-RESUME-1] */
function judgeResume(
  room: Room,
  resume: { epoch: string; seq: number },
  first: number,
  last: number,
): { ok: true } | { ok: false; reason: string } {
  if (!room.hasHistory) return { ok: false, reason: "history_disabled" };
  if (resume.epoch !== room.log.epoch) return { ok: false, reason: "epoch_unknown" };
  if (resume.seq > last) return { ok: false, reason: "seq_ahead" };
  if (resume.seq < first - 1) return { ok: false, reason: "history_trimmed" };
  return { ok: true };
}

export function join(
  gateway: Gateway,
  admission: Admission,
  prepared: Preparation,
  socket: RoomSocket,
): Member {
  const { room } = prepared;
  const { participant, principal, level, protocol, isProtocolFixed, wantsSeq, wantsEcho } = admission;
  const connectionId = randomUUID();
  const member: Member = {
    room,
    connectionId,
    // No id holds a `#`.
    key: admission.isVirtual ? `${participant.id}#${connectionId}` : participant.id,
    participant,
    socket,
    connectedAt: gateway.clock.now(),
    wantsSeq,
    wantsEcho,
    principal,
    level,
    protocol,
    isProtocolFixed,
    position: prepared.position,
    isCatchingUp: false,
    tail: Promise.resolve(),
    waiting: 0,
    backlog: { bytes: 0, hold: undefined },
    faults: { count: 0, sinceMs: gateway.clock.monotonic() },
    wasWarned: false,
    hasLeft: false,
  };
  const before = room.members.get(member.key);
  if (before !== undefined) {
    // Nothing of it is inherited. [X0-6-1] [X1-7.1-2]
    expel(gateway, before, closeCodes.replaced, "replaced");
  }
  room.members.set(member.key, member);
  if (isServing(gateway, member)) room.senders ??= new Map();
  gateway.participants.saw(room.topic, participant.id);
  socket.write(single(welcomeText(gateway, member, prepared)));
  // An own socket is news even where a virtual connection was there before: what is served comes with it.
  if (!admission.isVirtual || !isThereToo(member)) announcePresence(gateway, member, "join");
  gateway.log.info({ topic: room.topic, id: participant.id, privilege: level }, "participant joined room");
  void catchUp(gateway, member).catch((error: unknown) => {
    gateway.log.error(
      { err: error, topic: room.topic, id: participant.id },
      "could not send missed envelopes",
    );
    expel(gateway, member, closeCodes.internal, "internal");
  });
  return member;
}

/** [X0-5.2-2] [X0-5.2-4] [X1-4.4.1-1] */
function welcomeText(gateway: Gateway, member: Member, { resumed, recent, position }: Preparation): string {
  const { room, participant, protocol } = member;
  const others = presentMembers(room).filter((other) => other.participant.id !== participant.id);
  const history = {
    enabled: room.hasHistory,
    limit: gateway.limits.historyPageMax,
    epoch: room.log.epoch,
    seq: position,
  };
  const payload = {
    event: "welcome",
    participant: { id: participant.id, privilege: member.level },
    participants: others.map(listed),
    connection_id: member.connectionId,
    protocol,
    ...(gateway.options.compat.toolsRequest ? compatWelcome(member) : {}),
    ...(resumed === undefined ? {} : { resumed: resumed.ok }),
    ...(resumed === undefined || resumed.ok ? {} : { reason: resumed.reason }),
  };
  const envelopes = recentTexts(gateway, member, recent);
  const historyText =
    envelopes === undefined
      ? JSON.stringify(history)
      : `${JSON.stringify(history).slice(0, -1)},"envelopes":[${envelopes.join(",")}]}`;
  const text = `${JSON.stringify(payload).slice(0, -1)},"history":${historyText}}`;
  return systemTextRaw({ protocol, to: participant.id }, gateway.clock.now(), text);
}

/** COMPAT: the welcome of a gateway that knows two types of token: who may call, and who may only request. [X1-4.4-1] */
function compatWelcome({ level, participant }: Member): object {
  const tokenType = level === "full" ? "full" : "restricted";
  return { type: "welcome", tokenType, participantId: participant.id };
}

/** Oldest first, as they will be read; as many of the newest as fit into half of the queue's bound. */
function recentTexts({ limits }: Gateway, member: Member, recent: readonly Entry[]): string[] | undefined {
  if (recent.length === 0) return undefined;
  const texts: string[] = [];
  let bytes = 0;
  for (const entry of recent) {
    const text = renderEntry(entry, { protocol: member.protocol, wantsSeq: true });
    bytes += Buffer.byteLength(text);
    if (bytes > limits.queueBytesMax / 2) break;
    texts.unshift(text);
  }
  return texts;
}
