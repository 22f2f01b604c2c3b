// The frames of profile A, spec/devices.md, section 2, as they are written. [AX-B-1]
import { type CrcWidth, crc8, crc16 } from "./crc.ts";

export const frameTypes = { call: 1, response: 2, registration: 3, heartbeat: 4, event: 5 } as const;

export interface FrameA {
  type: number;
  tool: number;
  seq: number;
  payload: Uint8Array;
}

export const payloadBytesMax = 1_024;
/** Of an event. */
export const eventPayloadBytesMax = 64;
export const startOfFrame = 0x7e;
/** TYPE, TOOL_ID and SEQ. */
export const headBytes = 3;
/** From here on LEN has two bytes. */
export const longLength = 0x80;

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
