// The messages of profile B, spec/devices.md, section 3: what may be said, as values. [AX-8.2-1]
import {
  CborError,
  type CborMap,
  type CborValue,
  type Decoded,
  type DecodedMap,
  decodeCbor,
  encodeCbor,
} from "./cbor.ts";
import { sealed, unsealed } from "./crc.ts";

export const ownMethods = { register: -1, heartbeat: -2 } as const;

const keys = { method: 1, id: 2, params: 3, result: 4, error: 5 } as const;

/** A type of an argument: a CBOR major type, or 20 (boolean), 26 (float). */
export const stubTypes = {
  uint: 0,
  int: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  bool: 20,
  float: 26,
} as const;
const knownTypes: ReadonlySet<number> = new Set(Object.values(stubTypes));

interface StubTool {
  id: number;
  argumentTypes: readonly number[];
}

export interface StubRegistration {
  serial: Uint8Array;
  packetMax: number;
  callsMax: number;
  tools: readonly StubTool[];
}

export type StubMessage =
  | { kind: "result"; id: number; result: DecodedMap }
  | { kind: "error"; id: number; status: number; text: string | undefined }
  | { kind: "announcement"; registration: StubRegistration };

export const idMax = 0xffff;

/** A request to a stub; arguments by position. */
export function encodeRequest(method: number, id: number, args: readonly CborValue[]): Uint8Array {
  const message = new Map<number, CborValue>([
    [keys.method, method],
    [keys.id, id],
  ]);
  if (args.length > 0) message.set(keys.params, new Map(args.entries()));
  return sealed(encodeCbor(message));
}

/** What a stub says; `undefined` where it is none of what it may say. */
export function decodePacket(packet: Uint8Array): StubMessage | undefined {
  const bytes = unsealed(packet);
  if (bytes === undefined) return undefined;
  try {
    const message = decodeCbor(bytes);
    return message instanceof Map ? readMessage(message) : undefined;
  } catch (error) {
    if (error instanceof CborError) return undefined;
    throw error;
  }
}

/** By its keys: an answer has an id and one of two bodies, an announcement a method and its parameters. */
export function readMessage(message: DecodedMap): StubMessage | undefined {
  switch ([...message.keys()].join()) {
    case "2,4":
      return readResult(message.get(keys.id), message.get(keys.result));
    case "2,5":
      return readError(message.get(keys.id), message.get(keys.error));
    case "1,3":
      return readAnnouncement(message.get(keys.method), message.get(keys.params));
    default:
      return undefined;
  }
}

function isWhole(value: Decoded | undefined, least: number, most: number): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
}

function readResult(id: Decoded | undefined, result: Decoded | undefined): StubMessage | undefined {
  return isWhole(id, 0, idMax) && result instanceof Map ? { kind: "result", id, result } : undefined;
}

const errorTextBytesMax = 64;

function readError(id: Decoded | undefined, error: Decoded | undefined): StubMessage | undefined {
  if (!isWhole(id, 0, idMax) || !(error instanceof Map)) return undefined;
  const status = error.get(0);
  const text = error.get(1);
  const isText = typeof text === "string" && new TextEncoder().encode(text).length <= errorTextBytesMax;
  if (!isWhole(status, 1, 255) || error.size !== (text === undefined ? 1 : 2)) return undefined;
  if (text !== undefined && !isText) return undefined;
  return { kind: "error", id, status, text: text as string | undefined };
}

function readAnnouncement(method: Decoded | undefined, params: Decoded | undefined): StubMessage | undefined {
  if (method !== ownMethods.register || !(params instanceof Map)) return undefined;
  const registration = readRegistrationOfStub(params);
  return registration && { kind: "announcement", registration };
}

const version = 1;
const serialBytesMax = 16;
const argumentsMax = 15;

/** The R of section 3.3: announced, or the answer to the question. */
export function readRegistrationOfStub(map: CborMap): StubRegistration | undefined {
  const [serial, packetMax, callsMax, tools] = [
    map.get(1),
    map.get(2),
    map.get(3) ?? 1,
    map.get(4),
  ] as Decoded[];
  if (map.get(0) !== version || map.size !== (map.has(3) ? 5 : 4)) return undefined;
  if (!(serial instanceof Uint8Array) || serial.length < 1 || serial.length > serialBytesMax)
    return undefined;
  if (!isWhole(packetMax, 32, 1_024) || !isWhole(callsMax, 1, 255) || !(tools instanceof Map))
    return undefined;
  const read = [...tools].map(([id, types]) => readTool(id, types));
  if (read.includes(undefined)) return undefined;
  return { serial, packetMax, callsMax, tools: read as StubTool[] };
}

function readTool(id: number, types: Decoded): StubTool | undefined {
  if (!isWhole(id, 1, 255) || !(types instanceof Uint8Array)) return undefined;
  const [result, ...argumentTypes] = types;
  const isKnown = argumentTypes.every((type) => knownTypes.has(type));
  if (result !== stubTypes.map || !isKnown || argumentTypes.length > argumentsMax) return undefined;
  return { id, argumentTypes };
}
