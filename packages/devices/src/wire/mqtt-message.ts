// The messages of profile B as JSON, for MQTT; spec/devices.md, section 4.5. [AX-8.1-5]
import { isObject } from "@mcpx/protocol";
import type { CborValue, Decoded, DecodedMap } from "./cbor.ts";
import { ownMethods, readMessage, type StubMessage, type Unreadable, unreadable } from "./message.ts";

/** Either way. */
export const jsonBytesMax = 4_096;
const levelsMax = 6;

/** Byte strings as base64, floats as numbers. */
export function encodeJsonRequest(method: number, id: number, args: readonly CborValue[]): string {
  const params =
    args.length === 0 ? {} : { params: Object.fromEntries(args.map((arg, at) => [at, jsonOf(arg)])) };
  return JSON.stringify({ method, id, ...params });
}

function jsonOf(value: CborValue): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [key, jsonOf(one)]));
  if (Array.isArray(value)) return value.map(jsonOf);
  return typeof value === "object" && value !== null && "float32" in value ? value.float32 : value;
}

const words: Record<string, number> = { jsonrpc: 0, method: 1, id: 2, params: 3, result: 4, error: 5 };

/** What a stub says. */
export function decodeJson(text: string): StubMessage | Unreadable {
  return decodeJsonBytes(Buffer.from(text));
}

/** As a broker hands it over. */
export function decodeJsonBytes(bytes: Uint8Array): StubMessage | Unreadable {
  if (bytes.length > jsonBytesMax) return unreadable(`a message of more than ${jsonBytesMax} bytes`);
  const json = parsed(Buffer.from(bytes).toString());
  if (!isObject(json)) return unreadable("a message that is not a JSON object");
  const message: DecodedMap = new Map();
  for (const [word, value] of Object.entries(json)) {
    const key = Object.hasOwn(words, word) ? words[word] : undefined;
    const read = decodedOf(value, 1);
    if (key === undefined) return unreadable("a field that no message has");
    if (read === undefined) return unreadable(`${word} holds what no message may hold`);
    message.set(key, read);
  }
  return readMessage(withBytes(new Map([...message].sort(([a], [b]) => a - b))));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: not a message.
    return undefined;
  }
}

function decodedOf(value: unknown, level: number): Decoded | undefined {
  if (level > levelsMax) return undefined;
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number") return value;
  if (Array.isArray(value)) {
    const items = value.map((one) => decodedOf(one, level + 1));
    return items.includes(undefined) ? undefined : (items as Decoded[]);
  }
  return isObject(value) ? mapOf(value, level) : undefined;
}

function mapOf(object: Record<string, unknown>, level: number): DecodedMap | undefined {
  const map: DecodedMap = new Map();
  for (const [key, value] of Object.entries(object)) {
    const read = decodedOf(value, level + 1);
    if (!/^(?:0|[1-9]\d{0,8})$/.test(key) || read === undefined) return undefined;
    map.set(Number(key), read);
  }
  return map;
}

/** An announcement's registration, its byte strings read. */
function withBytes(message: DecodedMap): DecodedMap {
  const params = message.get(3);
  const isAnnouncement = message.get(1) === ownMethods.register && params instanceof Map;
  return isAnnouncement ? new Map(message).set(3, withRegistrationBytes(params)) : message;
}

/** In a registration the serial number and the types are byte strings, which JSON has as base64. */
export function withRegistrationBytes(registration: DecodedMap): DecodedMap {
  const tools = registration.get(4);
  const read = withBytesAt(registration, [1]);
  return tools instanceof Map ? read.set(4, withBytesAt(tools, [...tools.keys()])) : read;
}

/** `null`, which is no byte string, where the text is not base64. */
export function withBytesAt(map: DecodedMap, keys: readonly number[]): DecodedMap {
  const read = new Map(map);
  for (const key of keys) read.set(key, bytesOf(map.get(key)));
  return read;
}

function bytesOf(value: Decoded | undefined): Decoded {
  if (typeof value !== "string" || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return null;
  return new Uint8Array(Buffer.from(value, "base64"));
}
