// The frames of profile A, spec/devices.md, section 2. [AX-B-1]
import { crc8, crc16 } from "../wire/crc.ts";
import type { FrameReader, FrameTaker } from "./framing.ts";

export const frameTypes = { call: 1, response: 2, heartbeat: 4 } as const;

export type CrcWidth = 8 | 16;

export interface FrameA {
  type: number;
  tool: number;
  seq: number;
  payload: Uint8Array;
}

export const payloadBytesMax = 1_024;
const startOfFrame = 0x7e;
const headBytes = 3;
const longLength = 0x80;

export function encodeFrameA({ type, tool, seq, payload }: FrameA, crc: CrcWidth): Uint8Array {
  const length = headBytes + payload.length;
  if (payload.length > payloadBytesMax)
    throw new RangeError(`a payload has at most ${payloadBytesMax} bytes`);
  const lengthBytes = length < longLength ? [length] : [longLength | (length >> 8), length & 0xff];
  const body = Uint8Array.from([...lengthBytes, type, tool, seq, ...payload]);
  const sum = crc === 16 ? crc16(body) : crc8(body);
  return Uint8Array.from([startOfFrame, ...body, ...(crc === 16 ? [sum >> 8, sum & 0xff] : [sum])]);
}

/** Ends whatever a stub was in the middle of reading. */
export function flushA(payloadMax: number): Uint8Array {
  return new Uint8Array(payloadMax + 8);
}

interface Begun {
  /** LEN and what it counts, and the CRC. */
  bytes: number[];
  /** How many of them there will be; `undefined` until LEN is whole. */
  wanted: number | undefined;
}

export interface FrameATaker extends Omit<FrameTaker, "frame"> {
  frame(frame: FrameA): void;
}

export function createFrameAReader(crc: CrcWidth, taker: FrameATaker): FrameReader {
  const crcBytes = crc / 8;
  let begun: Begun | undefined;
  const read = (byte: number) => {
    if (begun === undefined) {
      if (byte === startOfFrame) begun = { bytes: [], wanted: undefined };
      return;
    }
    // A second start byte where a length should be: it may be the true one.
    if (begun.bytes.length === 0 && byte === startOfFrame) return;
    begun.bytes.push(byte);
    begun.wanted ??= wantedOf(begun.bytes, crcBytes);
    if (begun.wanted === 0) {
      taker.dropped("an impossible length");
      begun = undefined;
    } else if (begun.bytes.length === begun.wanted) {
      finish(Uint8Array.from(begun.bytes));
      begun = undefined;
    }
  };
  const finish = (bytes: Uint8Array) => {
    const body = bytes.subarray(0, -crcBytes);
    const sum = crc === 16 ? crc16(bytes) : crc8(body) ^ (bytes.at(-1) as number);
    const [type, tool, seq, ...payload] = body.subarray(lengthBytesOf(bytes));
    if (sum !== 0) taker.dropped("a wrong CRC");
    else taker.frame({ type, tool, seq, payload: Uint8Array.from(payload) } as FrameA);
  };
  return (bytes) => {
    for (const byte of bytes) read(byte);
  };
}

function lengthBytesOf(bytes: ArrayLike<number>): number {
  return (bytes[0] as number) < longLength ? 1 : 2;
}

/** LEN, what it counts and the CRC together; 0: no frame begins like this; `undefined`: more is needed to tell. */
function wantedOf(bytes: readonly number[], crcBytes: number): number | undefined {
  const lengthBytes = lengthBytesOf(bytes);
  if (bytes.length < lengthBytes) return undefined;
  const [first = 0, second = 0] = bytes;
  const length = lengthBytes === 1 ? first : ((first & ~longLength) << 8) | second;
  const least = lengthBytes === 1 ? headBytes : longLength;
  if (length < least || length > headBytes + payloadBytesMax) return 0;
  return lengthBytes + length + crcBytes;
}
