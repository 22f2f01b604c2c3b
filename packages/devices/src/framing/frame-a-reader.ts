// Finds the frames of profile A in a stream: LEN and the CRC decide, and whatever is no frame costs its first byte only, so
// that a true frame behind it is still found. [AX-B-1]
import type { CrcWidth } from "./crc.ts";
import {
  eventPayloadBytesMax,
  type FrameA,
  frameTypes,
  headBytes,
  longLength,
  payloadBytesMax,
  startOfFrame,
} from "./frame-a.ts";
import type { FrameReader, FrameTaker } from "./framing.ts";
import { createSpanCrc } from "./span-crc.ts";

export interface FrameATaker extends Omit<FrameTaker, "frame"> {
  frame(frame: FrameA): void;
}

export interface FrameAReader extends FrameReader {
  /** Whether a frame has begun and not ended. */
  isWithin(): boolean;
  /**
   * The line has been silent: a frame that has begun may never end. It is kept, but a whole frame behind its start
   * byte is read now, and then the one before it was noise.
   */
  settle(): void;
}

/** SOF, LEN of two bytes, what it counts, a CRC of two. */
const frameBytesMax = 1 + 2 + headBytes + payloadBytesMax + 2;
/** A power of two, more than the longest frame. */
const ringBytes = 2_048;
const ringMask = ringBytes - 1;

export function createFrameAReader(crc: CrcWidth, taker: FrameATaker): FrameAReader {
  const spans = createSpanCrc(crc, frameBytesMax);
  const crcBytes = crc / 8;
  const kept = new Uint8Array(ringBytes);
  /** By place: the remainder of everything before it. */
  const remainders = new Uint16Array(ringBytes);
  let remainder = 0;
  // Places in the stream. Between them stands what has not been told yet; at `start` there is a start byte, or nothing.
  let start = 0;
  let end = 0;
  /** Before `end` is here there is nothing to find. */
  let wanted = 0;

  const keep = (byte: number) => {
    kept[end & ringMask] = byte;
    remainders[end & ringMask] = remainder;
    remainder = spans.step(remainder, byte);
    end += 1;
    remainders[end & ringMask] = remainder;
  };
  const byteAt = (place: number) => kept[place & ringMask] as number;

  /** A frame's bytes at this place; 0 where there is none, more than are here where it is not whole yet. */
  const bytesAt = (place: number): number => {
    const first = byteAt(place + 1);
    const lengthBytes = first < longLength ? 1 : 2;
    // SOF, LEN and TYPE.
    const beginningBytes = 2 + lengthBytes;
    if (end - place < beginningBytes) return beginningBytes;
    const low = byteAt(place + lengthBytes);
    const length = lengthBytes === 1 ? low : ((first & ~longLength) << 8) | low;
    const least = lengthBytes === 1 ? headBytes : longLength;
    if (length < least || length > headBytes + payloadBytesMax) return 0;
    const type = byteAt(place + 1 + lengthBytes);
    return isPossible(type, length) ? 1 + lengthBytes + length + crcBytes : 0;
  };
  const isSound = (place: number, bytes: number) =>
    spans.isSound(
      remainders[(place + 1) & ringMask] as number,
      remainders[(place + bytes) & ringMask] as number,
      bytes - 1,
    );
  const tell = (place: number, bytes: number) => {
    const whole = Uint8Array.from({ length: bytes }, (_, index) => byteAt(place + index));
    const body = whole.subarray((whole[1] as number) < longLength ? 2 : 3, -crcBytes);
    const [type, tool, seq] = body as unknown as [number, number, number];
    start = place + bytes;
    taker.frame({ type, tool, seq, payload: body.slice(headBytes) });
  };
  /** From `start` on, until something has to be waited for. */
  const find = () => {
    wanted = 0;
    while (start < end) {
      if (byteAt(start) !== startOfFrame) start += 1;
      else {
        const bytes = bytesAt(start);
        wanted = start + bytes;
        if (wanted > end) return;
        if (bytes > 0 && isSound(start, bytes)) tell(start, bytes);
        else {
          start += 1;
          taker.dropped(bytes > 0 ? "a wrong CRC" : "an impossible length or type");
        }
      }
    }
  };
  const settle = () => {
    for (let place = start + 1; place < end; place += 1) {
      const bytes = byteAt(place) === startOfFrame ? bytesAt(place) : 0;
      if (bytes === 0 || place + bytes > end || !isSound(place, bytes)) continue;
      taker.dropped("a frame that was cut off");
      tell(place, bytes);
      place = start - 1;
    }
    find();
  };
  const read = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; at += 1) {
      // Nothing has begun: what comes before the next start byte is noise, and is not looked at one by one.
      if (start === end) at = bytes.indexOf(startOfFrame, at);
      if (at === -1) return;
      keep(bytes[at] as number);
      if (end >= wanted) find();
    }
  };
  return Object.assign(read, { isWithin: () => start < end, settle });
}

/** A heartbeat has no payload, its answer one byte of status. */
const heartbeatLengthMax = headBytes + 1;

/** By its type, so that a second start byte is not waited on as a length of 126, unless such a frame may follow it. */
function isPossible(type: number, length: number): boolean {
  if (type === frameTypes.heartbeat) return length <= heartbeatLengthMax;
  if (type === frameTypes.event) return length <= headBytes + eventPayloadBytesMax;
  return type >= frameTypes.call && type < frameTypes.heartbeat;
}
