// The CBOR of spec/devices.md, section 3.2: the deterministic kind, and only what a message may hold.

export type CborValue =
  | number
  | string
  | boolean
  | null
  | Uint8Array
  | Float32
  | readonly CborValue[]
  | CborMap;
export type CborMap = ReadonlyMap<number, CborValue>;

/** A number to be written as a single-precision float; decoding gives plain numbers. */
interface Float32 {
  readonly float32: number;
}

const levelsMax = 6;
const entriesMax = 64;

const majors = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, simple: 7 } as const;
const floatHead = 0xfa;

export class CborError extends Error {}

export function encodeCbor(value: CborValue): Uint8Array {
  const bytes: number[] = [];
  write(bytes, value);
  return Uint8Array.from(bytes);
}

function writeHead(bytes: number[], major: number, value: number): void {
  const first = major << 5;
  if (value < 24) bytes.push(first | value);
  else if (value < 0x100) bytes.push(first | 24, value);
  else if (value < 0x1_0000) bytes.push(first | 25, value >> 8, value & 0xff);
  else if (value < 0x1_0000_0000) bytes.push(first | 26, ...bigEndian(value, 4));
  else bytes.push(first | 27, ...bigEndian(value, 8));
}

function bigEndian(value: number, count: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes.subarray(8 - count);
}

function write(bytes: number[], value: CborValue): void {
  if (typeof value === "number") writeInteger(bytes, value);
  else if (typeof value === "string") writeBytes(bytes, majors.text, new TextEncoder().encode(value));
  else if (value === null || typeof value === "boolean")
    bytes.push(value === null ? 0xf6 : value ? 0xf5 : 0xf4);
  else if (value instanceof Uint8Array) writeBytes(bytes, majors.bytes, value);
  else if (value instanceof Map) writeMap(bytes, value);
  else if ("float32" in value) writeFloat(bytes, (value as Float32).float32);
  else {
    const items = value as readonly CborValue[];
    writeHead(bytes, majors.array, items.length);
    for (const item of items) write(bytes, item);
  }
}

function writeInteger(bytes: number[], value: number): void {
  if (!Number.isSafeInteger(value)) throw new CborError(`${value} is not an integer that can be sent`);
  if (value >= 0) writeHead(bytes, majors.unsigned, value);
  else writeHead(bytes, majors.negative, -1 - value);
}

function writeBytes(bytes: number[], major: number, content: Uint8Array): void {
  writeHead(bytes, major, content.length);
  for (const byte of content) bytes.push(byte);
}

function writeFloat(bytes: number[], value: number): void {
  if (!Number.isFinite(Math.fround(value))) throw new CborError(`${value} is not a float that can be sent`);
  const float = new Uint8Array(4);
  new DataView(float.buffer).setFloat32(0, value);
  bytes.push(floatHead, ...float);
}

function writeMap(bytes: number[], map: CborMap): void {
  writeHead(bytes, majors.map, map.size);
  for (const [key, value] of [...map].sort(([a], [b]) => compareKeys(a, b))) {
    writeInteger(bytes, key);
    write(bytes, value);
  }
}

/** In the order of their bytes: numbers from 0 up, then −1, −2 and so on. */
function compareKeys(a: number, b: number): number {
  if (a >= 0 !== b >= 0) return a >= 0 ? -1 : 1;
  return a >= 0 ? a - b : b - a;
}

/** Throws a `CborError` where the bytes are anything but one item of the allowed kinds, written the only way. */
export function decodeCbor(bytes: Uint8Array): Decoded {
  const reader: Reader = { bytes, at: 0 };
  const value = readItem(reader, 1);
  if (reader.at !== bytes.length) throw new CborError("more than one item");
  return value;
}

export type Decoded = number | string | boolean | null | Uint8Array | Decoded[] | DecodedMap;
export type DecodedMap = Map<number, Decoded>;

interface Reader {
  readonly bytes: Uint8Array;
  at: number;
}

function take(reader: Reader, count: number): Uint8Array {
  if (count > reader.bytes.length - reader.at) throw new CborError("cut off");
  reader.at += count;
  return reader.bytes.subarray(reader.at - count, reader.at);
}

function readItem(reader: Reader, level: number): Decoded {
  if (level > levelsMax) throw new CborError(`more than ${levelsMax} levels`);
  const [first = 0] = take(reader, 1);
  const major = first >> 5;
  if (major === majors.simple) return readSimple(reader, first);
  const value = readArgument(reader, first & 31);
  switch (major) {
    case majors.unsigned:
      return value;
    case majors.negative:
      if (value >= Number.MAX_SAFE_INTEGER) throw new CborError("an integer that is too small");
      return -1 - value;
    case majors.bytes:
      return take(reader, value).slice();
    case majors.text:
      return textOf(take(reader, value));
    case majors.array:
      return readArray(reader, value, level);
    case majors.map:
      return readMap(reader, value, level);
    default:
      throw new CborError("a tag");
  }
}

function readArgument(reader: Reader, extra: number): number {
  if (extra < 24) return extra;
  if (extra > 27) throw new CborError("a head that is reserved or indefinite");
  const count = 1 << (extra - 24);
  const bytes = take(reader, count);
  let value = 0;
  for (const byte of bytes) value = value * 0x100 + byte;
  const least = [24, 0x100, 0x1_0000, 0x1_0000_0000][extra - 24] as number;
  if (value < least) throw new CborError("a head longer than need be");
  if (value > Number.MAX_SAFE_INTEGER) throw new CborError("a number that is too large");
  return value;
}

function readSimple(reader: Reader, first: number): number | boolean | null {
  if (first === 0xf4 || first === 0xf5) return first === 0xf5;
  if (first === 0xf6) return null;
  if (first !== floatHead) throw new CborError("a simple value or a float that is not allowed");
  const bytes = take(reader, 4);
  const value = new DataView(bytes.buffer, bytes.byteOffset, 4).getFloat32(0);
  if (!Number.isFinite(value)) throw new CborError("a float that is not a number");
  return value;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new CborError("text that is not UTF-8", { cause });
  }
}

function countOf(value: number): number {
  if (value > entriesMax) throw new CborError(`more than ${entriesMax} entries`);
  return value;
}

function readArray(reader: Reader, count: number, level: number): Decoded[] {
  return Array.from({ length: countOf(count) }, () => readItem(reader, level + 1));
}

function readMap(reader: Reader, count: number, level: number): DecodedMap {
  const map: DecodedMap = new Map();
  let before: number | undefined;
  for (let left = countOf(count); left > 0; left -= 1) {
    const head = (reader.bytes[reader.at] ?? 0) >> 5;
    if (head > majors.negative) throw new CborError("a key that is not an integer");
    const key = readItem(reader, level + 1) as number;
    if (before !== undefined && compareKeys(before, key) >= 0)
      throw new CborError("keys twice or out of order");
    map.set(key, readItem(reader, level + 1));
    before = key;
  }
  return map;
}
