// What two gateways say to each other about a connection to a room that begins at one of them (the edge) and ends at the
// other (the owner of the topic). Each message names its stream: a connection's number, given by the edge. Pure.
import type { Slice } from "../delivery/batch.ts";

/** The first byte of each message; smaller ones are those of the connection between the gateways. */
export const edgeKinds = { text: 16, fault: 17, closed: 18, begin: 19, drained: 20 } as const;
/** From here on an owner speaks. */
export const firstOwnerKind = 32;
export const ownerKinds = {
  deliver: 32,
  close: 33,
  destroy: 34,
  pause: 35,
  resume: 36,
  askDrained: 37,
} as const;

const streamBytes = 4;

export function streamMessage(stream: number, body: string = ""): Buffer {
  const message = Buffer.allocUnsafe(streamBytes + Buffer.byteLength(body));
  message.writeUInt32BE(stream, 0);
  message.write(body, streamBytes);
  return message;
}

export function readStreamMessage(message: Buffer): { stream: number; body: string } {
  return { stream: message.readUInt32BE(0), body: message.toString("utf8", streamBytes) };
}

/** What one stream is to be given. */
export interface Outgoing {
  stream: number;
  slice: Slice;
}

/** Some bytes of frames for one stream. */
export interface Delivered {
  stream: number;
  frames: Buffer;
  envelopes: number;
}

const itemBytes = 14;

/**
 * The frames of each batch once, however many streams are given them, and then who gets which part of them. Little
 * enough of it to be one message is the caller's care.
 */
export function deliverMessage(outgoing: readonly Outgoing[]): Buffer {
  const wholes = new Map<object, { bytes: Buffer; at: number }>();
  let total = 0;
  for (const { slice } of outgoing) {
    if (wholes.has(slice.batch)) continue;
    const bytes = slice.batch.frames(0, slice.batch.texts.length);
    wholes.set(slice.batch, { bytes, at: total });
    total += bytes.length;
  }
  const head = Buffer.allocUnsafe(4 + outgoing.length * itemBytes);
  head.writeUInt32BE(outgoing.length, 0);
  outgoing.forEach(({ stream, slice: { batch, start, end } }, index) => {
    const { bytes, at } = wholes.get(batch) as { bytes: Buffer; at: number };
    const part = batch.frames(start, end);
    const from = at + part.byteOffset - bytes.byteOffset;
    const place = 4 + index * itemBytes;
    head.writeUInt32BE(stream, place);
    head.writeUInt32BE(from, place + 4);
    head.writeUInt32BE(part.length, place + 8);
    head.writeUInt16BE(end - start, place + 12);
  });
  return Buffer.concat([head, ...[...wholes.values()].map(({ bytes }) => bytes)]);
}

/** Throws a RangeError where it is no such message. */
export function readDeliverMessage(message: Buffer): Delivered[] {
  const count = message.readUInt32BE(0);
  const framesAt = 4 + count * itemBytes;
  if (framesAt > message.length) throw new RangeError("a delivery of a peer is cut short");
  return Array.from({ length: count }, (_, index) => {
    const place = 4 + index * itemBytes;
    const from = framesAt + message.readUInt32BE(place + 4);
    const to = from + message.readUInt32BE(place + 8);
    if (to > message.length) throw new RangeError("a delivery of a peer names bytes that it does not have");
    return {
      stream: message.readUInt32BE(place),
      frames: message.subarray(from, to),
      envelopes: message.readUInt16BE(place + 12),
    };
  });
}
