// Profile B in the frames of profile A: TYPE says what it is, TOOL_ID and SEQ what it is about, and the payload is one
// CBOR map. For stubs written after the source's appendix alone. spec/devices.md, section 3.5. [AX-B-1]

import type { CrcWidth } from "../framing/crc.ts";
import { encodeFrameA, type FrameA, frameTypes } from "../framing/frame-a.ts";
import { type CborValue, encodeCbor } from "./cbor.ts";
import {
  decodeMap,
  isEventId,
  ownMethods,
  readRegistrationOfStub,
  type StubMessage,
  type Unreadable,
  unreadable,
} from "./message.ts";

export const seqCount = 256;

/** Where an answer's status stands in its payload. */
export type StatusPlace = "first" | "last";

const nothing = new Uint8Array();

export function encodeFramedRequest(
  method: number,
  seq: number,
  args: readonly CborValue[],
  crc: CrcWidth,
): Uint8Array {
  if (method === ownMethods.register)
    return encodeFrameA({ type: frameTypes.registration, tool: 0, seq, payload: nothing }, crc);
  if (method === ownMethods.heartbeat)
    return encodeFrameA({ type: frameTypes.heartbeat, tool: 0, seq, payload: nothing }, crc);
  const payload = encodeCbor(new Map(args.entries()));
  return encodeFrameA({ type: frameTypes.call, tool: method, seq, payload }, crc);
}

/** An answer's status and what else is in its payload; `undefined` where there is no status: an echo of our own frame. */
export function splitStatus(
  payload: Uint8Array,
  place: StatusPlace,
): { status: number; result: Uint8Array } | undefined {
  const status = place === "first" ? payload.at(0) : payload.at(-1);
  if (status === undefined) return undefined;
  return { status, result: place === "first" ? payload.subarray(1) : payload.subarray(0, -1) };
}

export function readFramed(
  { type, tool, seq, payload }: FrameA,
  place: StatusPlace,
): StubMessage | Unreadable {
  if (type === frameTypes.event) return readFramedEvent(tool, payload);
  if (type === frameTypes.registration) return readFramedRegistration(payload);
  const answer = type === frameTypes.call ? undefined : splitStatus(payload, place);
  if (answer === undefined) return unreadable("a frame that is not an answer");
  const { status, result } = answer;
  if (status !== 0) return { kind: "error", id: seq, status, text: undefined };
  if (type === frameTypes.heartbeat) return { kind: "result", id: seq, result: new Map() };
  const map = decodeMap(result);
  return map instanceof Map ? { kind: "result", id: seq, result: map } : map;
}

/** Its number stands where a tool's does. */
function readFramedEvent(event: number, payload: Uint8Array): StubMessage | Unreadable {
  const values = decodeMap(payload);
  if (!(values instanceof Map)) return values;
  return isEventId(event) ? { kind: "event", event, values } : unreadable("an event 0");
}

/** Whenever it comes: at boot, or because it was asked for. */
function readFramedRegistration(payload: Uint8Array): StubMessage | Unreadable {
  // Our own question: a line that echoes.
  if (payload.length === 0) return unreadable("a registration without its table");
  const map = decodeMap(payload);
  if (!(map instanceof Map)) return map;
  const registration = readRegistrationOfStub(map);
  return registration === undefined
    ? unreadable("a registration that cannot be read")
    : { kind: "announcement", registration };
}
