// Delivery: what was committed in one tick goes to every member in one write, encoded once per variant.
import { closeCodes } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member, Room, Said } from "../room/room.ts";
import type { Entry } from "../topic-log/topic-log.ts";
import { isTooSlow } from "../transports/socket.ts";
import { Batch, type Slice, single, wholeOf } from "./batch.ts";
import { expel } from "./leave.ts";
import { renderEntry } from "./render.ts";
import { isoTime, systemText } from "./system-envelope.ts";

/** Virtual voices that are remembered for those who catch up. */
const voicesMax = 1_024;

/** Takes a committed entry; it leaves with all others of this tick. */
export function enqueue(gateway: Gateway, room: Room, said: Said): void {
  if (room.outbox.length === 0) setImmediate(() => deliver(gateway, room));
  room.outbox.push(said);
  if (said.by !== said.from) rememberVoice(room, said);
}

function rememberVoice({ voices }: Room, { id, by }: Said): void {
  voices.set(id, by);
  const [oldest] = voices.keys();
  if (voices.size > voicesMax && oldest !== undefined) voices.delete(oldest);
}

function deliver(gateway: Gateway, room: Room): void {
  const entries = room.outbox;
  room.outbox = [];
  const [first, last] = [entries[0], entries.at(-1)];
  if (first === undefined || last === undefined) return;
  room.deliveredSeq = last.seq;
  // By variant: two protocols, with and without seq.
  const batches: (Batch | undefined)[] = [undefined, undefined, undefined, undefined];
  let deliveries = 0;
  const senders = new Set(entries.map(({ by }) => by));
  for (const member of room.members.values()) {
    if (member.isCatchingUp || member.position >= last.seq) continue;
    if (sendBackIfBehind(gateway, member, first.seq - 1)) continue;
    // Judged by what it left from before: a burst that comes just now makes nobody slow.
    if (cutOffIfSlow(gateway, member)) continue;
    const variant = (member.protocol === "mcp-x/v0" ? 2 : 0) + (member.wantsSeq ? 1 : 0);
    const batch = batches[variant] ?? new Batch(entries.map((entry) => renderEntry(entry, member)));
    batches[variant] = batch;
    // A member that has just caught up may have been given the first of these already.
    const start = entries.findIndex(({ seq }) => seq > member.position);
    member.position = last.seq;
    deliveries += entries.length - start;
    const isSender = senders.has(member.key);
    member.socket.write(
      isSender ? ownSlices(gateway, member, entries, batch, start) : [{ batch, start, end: entries.length }],
    );
  }
  gateway.metrics.delivered.inc(deliveries);
}

/**
 * What a connection sent comes back to it as acks, and as itself only where it asked for an echo. Other connections of
 * the same participant get it like everybody.
 */
function ownSlices(
  gateway: Gateway,
  member: Member,
  entries: readonly Said[],
  batch: Batch,
  start: number,
): Slice[] {
  const slices: Slice[] = [];
  let acks: string[] = [];
  let from = start;
  const flush = (end: number) => {
    if (acks.length > 0) slices.push(wholeOf(new Batch(acks)));
    acks = [];
    if (end > from) slices.push({ batch, start: from, end });
  };
  for (let i = start; i < entries.length; i += 1) {
    const entry = entries[i] as Said;
    if (entry.by !== member.key) continue;
    // Acks of envelopes that followed each other leave in one piece.
    if (i > from) flush(i);
    acks.push(ackText(gateway, member, entry));
    from = member.wantsEcho ? i : i + 1;
  }
  flush(entries.length);
  return slices;
}

/** One entry for one member, outside of live delivery. */
export function deliverOne(gateway: Gateway, member: Member, entry: Entry): void {
  member.position = entry.seq;
  if ((member.room.voices.get(entry.id) ?? entry.from) === member.key) {
    member.socket.write(single(ackText(gateway, member, entry)));
    if (!member.wantsEcho) return;
  }
  member.socket.write(single(renderEntry(entry, member)));
}

/**
 * Before what comes next stands an envelope that was stored although its answer was lost, so that nobody was given it:
 * the member comes back and resumes with it. Says whether it was sent away.
 */
function sendBackIfBehind(gateway: Gateway, member: Member, seq: number): boolean {
  if (member.position >= seq) return false;
  expel(gateway, member, closeCodes.draining, "resume");
  return true;
}

/** Whether an envelope that was sent again is one of those: stored, and neither delivered nor about to be. */
export function wasNeverDelivered({ deliveredSeq, outbox }: Room, seq: number): boolean {
  return seq > deliveredSeq && !outbox.some((said) => said.seq === seq);
}

/** Everybody who has not been given all up to this one comes back for it. */
export function deliverByResuming(gateway: Gateway, room: Room, seq: number): void {
  room.deliveredSeq = Math.max(room.deliveredSeq, seq);
  for (const member of room.members.values()) {
    if (!member.isCatchingUp) sendBackIfBehind(gateway, member, seq);
  }
}

/** What was sent again is acked again, but never before what stands before it in the log. */
export function ackAgain(gateway: Gateway, member: Member, entry: Entry): void {
  const ack = () => member.socket.write(single(ackText(gateway, member, entry)));
  if (member.position >= entry.seq) ack();
  // Still on its way: behind this tick's delivery. Who is catching up gets the ack in its place anyway.
  else if (!member.isCatchingUp) setImmediate(ack);
}

/** Says that an envelope is durable, and where it stands. */
function ackText(gateway: Gateway, member: Member, entry: Pick<Entry, "id" | "seq" | "at">): string {
  const { protocol, participant, room } = member;
  return systemText({ protocol, to: participant.id, correlationId: entry.id }, gateway.clock.now(), {
    event: "ack",
    id: entry.id,
    seq: entry.seq,
    epoch: room.log.epoch,
    at: isoTime(entry.at),
  });
}

/** A slow reader is cut off by a bound, never by memory. Says whether it was. */
export function cutOffIfSlow(gateway: Gateway, member: Member): boolean {
  if (!isTooSlow(member.socket, gateway.limits)) return false;
  gateway.metrics.slowConsumers.inc();
  expel(gateway, member, closeCodes.tooSlow, "too_slow");
  return true;
}
