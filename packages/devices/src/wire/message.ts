// The messages of profile B, spec/devices.md, section 3: what may be said, as values. [AX-8.2-1]

import { sealed, unsealed } from "../framing/crc.ts";
import {
  CborError,
  type CborMap,
  type CborValue,
  type Decoded,
  type DecodedMap,
  decodeCbor,
  encodeCbor,
} from "./cbor.ts";

export const ownMethods = { register: -1, heartbeat: -2, event: -3 } as const;

/** The only version of JSON-RPC there is; a stub need not say it, and we never do. */
const jsonRpcVersion = "2.0";

const keys = { version: 0, method: 1, id: 2, params: 3, result: 4, error: 5 } as const;

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
  | { kind: "announcement"; registration: StubRegistration }
  /** Unasked; its values by position. */
  | { kind: "event"; event: number; values: DecodedMap };

/** What a stub said and may not say; why, in words. */
export interface Unreadable {
  kind: "unreadable";
  why: string;
}

export const idMax = 0xffff;

/** A request to a stub, with its CRC; arguments by position. */
export function encodeRequest(method: number, id: number, args: readonly CborValue[]): Uint8Array {
  return sealed(encodeMessage(method, id, args));
}

export function encodeMessage(method: number, id: number, args: readonly CborValue[]): Uint8Array {
  const message = new Map<number, CborValue>([
    [keys.method, method],
    [keys.id, id],
  ]);
  if (args.length > 0) message.set(keys.params, new Map(args.entries()));
  return encodeCbor(message);
}

export function unreadable(why: string): Unreadable {
  return { kind: "unreadable", why };
}

/** What a stub says, its CRC behind it. */
export function decodePacket(packet: Uint8Array): StubMessage | Unreadable {
  const bytes = unsealed(packet);
  return bytes === undefined ? unreadable("a packet with a wrong CRC") : decodeMessage(bytes);
}

export function decodeMessage(bytes: Uint8Array): StubMessage | Unreadable {
  const message = decodeMap(bytes);
  return message instanceof Map ? readMessage(message) : message;
}

export function decodeMap(bytes: Uint8Array): DecodedMap | Unreadable {
  try {
    const map = decodeCbor(bytes);
    return map instanceof Map ? map : unreadable("CBOR that is not a map");
  } catch (error) {
    if (error instanceof CborError) return unreadable(`CBOR that breaks a rule: ${error.message}`);
    throw error;
  }
}

/** By its keys: an answer has an id and one of two bodies, an announcement or an event a method and its parameters. */
export function readMessage(message: DecodedMap): StubMessage | Unreadable {
  const version = message.get(keys.version) ?? jsonRpcVersion;
  if (version !== jsonRpcVersion) return unreadable(`key 0 (jsonrpc) is not "${jsonRpcVersion}"`);
  const said = [...message.keys()].filter((key) => key !== keys.version).join();
  return (
    readByKeys(said, message) ?? unreadable(`a message with the keys ${said || "none"}, which no message has`)
  );
}

function readByKeys(said: string, message: DecodedMap): StubMessage | undefined {
  switch (said) {
    case "2,4":
      return readResult(message.get(keys.id), message.get(keys.result));
    case "2,5":
      return readError(message.get(keys.id), message.get(keys.error));
    case "1,3":
      return readUnasked(message.get(keys.method), message.get(keys.params));
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

function readUnasked(method: Decoded | undefined, params: Decoded | undefined): StubMessage | undefined {
  if (!(params instanceof Map)) return undefined;
  if (method === ownMethods.event) return readEvent(params);
  const registration = method === ownMethods.register ? readRegistrationOfStub(params) : undefined;
  return registration && { kind: "announcement", registration };
}

/** One without values has an empty map of them. */
function readEvent(params: CborMap): StubMessage | undefined {
  const [event, values] = [params.get(0), params.get(1)] as Decoded[];
  if (params.size !== 2 || !isEventId(event) || !(values instanceof Map)) return undefined;
  return { kind: "event", event, values };
}

export function isEventId(value: Decoded | undefined): value is number {
  return isWhole(value, 1, 255);
}

const pageVersion = 1;
const serialBytesMax = 16;
const argumentsMax = 15;

/** The R of section 3.3, or the table of section 3.5: announced, or the answer to the question. */
export function readRegistrationOfStub(map: CborMap): StubRegistration | undefined {
  return map.has(0) ? readRegistration(map) : readToolTable(map);
}

function readRegistration(map: CborMap): StubRegistration | undefined {
  const [serial, packetMax, callsMax, tools] = [
    map.get(1),
    map.get(2),
    map.get(3) ?? 1,
    map.get(4),
  ] as Decoded[];
  if (map.get(0) !== pageVersion || map.size !== (map.has(3) ? 5 : 4)) return undefined;
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

/** Of a stub that does not say: the longest payload of a frame whose LEN has one byte. */
const packetMaxUnsaid = 124;
/** Major type 7 is many things: here a boolean or a float. */
const simpleType = 7;

/**
 * The rows of the source's table as they stand in ROM, by tool id: how many arguments, their types, the type of the
 * result. There is no serial number in it. [AX-B-1]
 */
function readToolTable(map: CborMap): StubRegistration | undefined {
  const tools = [...map].map(([id, row]) => readRow(id, row as Decoded));
  if (tools.length === 0 || tools.includes(undefined)) return undefined;
  return { serial: new Uint8Array(), packetMax: packetMaxUnsaid, callsMax: 1, tools: tools as StubTool[] };
}

/** The C array of types has 4 places; those past the count are there or not, and mean nothing. */
const rowTypes = 4;

function readRow(id: number, row: Decoded): StubTool | undefined {
  const isList = row instanceof Uint8Array || Array.isArray(row);
  if (!isWhole(id, 1, 255) || !isList) return undefined;
  const numbers: Decoded[] = [...row];
  const count = numbers[0];
  if (!isWhole(count, 0, rowTypes) || (numbers.length !== count + 2 && numbers.length !== rowTypes + 2))
    return undefined;
  const argumentTypes = numbers.slice(1, 1 + count);
  const isKnown = argumentTypes.every((type) => knownTypes.has(type as number) || type === simpleType);
  if (numbers.at(-1) !== stubTypes.map || !isKnown) return undefined;
  return { id, argumentTypes: argumentTypes as number[] };
}

/** Whether a stub that announces one type takes arguments of the other. */
export function takesType(announced: number, wanted: number): boolean {
  const isSimple = wanted === stubTypes.bool || wanted === stubTypes.float;
  return announced === wanted || (announced === simpleType && isSimple);
}
