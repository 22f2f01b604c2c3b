// Our codec as the program that `mcpx conform codec` asks. With an operation as its argument it gets that one wrong.
import { createInterface } from "node:readline";
import { createCobsReader, decodeCobs, encodeCobs } from "../../../packages/devices/src/framing/cobs.ts";
import { crc8, crc16 } from "../../../packages/devices/src/framing/crc.ts";
import { encodeFrameA, type FrameA } from "../../../packages/devices/src/framing/frame-a.ts";
import { createFrameAReader } from "../../../packages/devices/src/framing/frame-a-reader.ts";
import { createGattReader, encodeGatt } from "../../../packages/devices/src/framing/gatt.ts";
import { createIsoTpReader, encodeIsoTp } from "../../../packages/devices/src/framing/iso-tp.ts";
import {
  createLengthPrefixReader,
  encodeLengthPrefix,
} from "../../../packages/devices/src/framing/length-prefix.ts";
import {
  type CborValue,
  type Decoded,
  decodeCbor,
  encodeCbor,
} from "../../../packages/devices/src/wire/cbor.ts";
import { encodeFramedRequest, readFramed } from "../../../packages/devices/src/wire/framed-message.ts";
import {
  decodePacket,
  encodeRequest,
  type StubMessage,
  type Unreadable,
} from "../../../packages/devices/src/wire/message.ts";
import { decodeJson, encodeJsonRequest } from "../../../packages/devices/src/wire/mqtt-message.ts";

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (data: Uint8Array) => Buffer.from(data).toString("hex");
const dropped = () => {};

/** As the vectors write a value. */
function plain(value: Decoded): Json {
  if (value instanceof Uint8Array) return { bytes: hex(value) };
  if (value instanceof Map) return { map: [...value].map(([key, one]) => [key, plain(one)]) };
  return Array.isArray(value) ? value.map(plain) : value;
}

function fromPlain(value: Json): CborValue {
  if (typeof value === "number" && !Number.isInteger(value)) return { float32: value };
  if (Array.isArray(value)) return value.map(fromPlain);
  if (value?.bytes !== undefined) return bytes(value.bytes);
  if (value?.map !== undefined)
    return new Map(value.map.map(([key, one]: [number, Json]) => [key, fromPlain(one)]));
  return value;
}

/** `undefined`: it must not be taken. */
function meaning(message: StubMessage | Unreadable | undefined): Json {
  if (message === undefined || message.kind === "unreadable") return undefined;
  if (message.kind === "result") return { ...message, result: plain(message.result) };
  if (message.kind === "event") return { ...message, values: plain(message.values) };
  if (message.kind !== "announcement") return message;
  const { serial, tools, ...rest } = message.registration;
  // Map (5) is what every tool gives.
  const listed = tools.map(({ id, argumentTypes }) => [id, [5, ...argumentTypes]]);
  return { kind: "announcement", registration: { version: 1, serial: hex(serial), ...rest, tools: listed } };
}

function collected(read: (take: (frame: Uint8Array) => void) => void): string[] {
  const frames: string[] = [];
  read((frame) => frames.push(hex(frame)));
  return frames;
}

/** `undefined` and a throw are refusals. */
const operations: Record<string, (input: Json) => Json> = {
  crc16: (data) => crc16(bytes(data)),
  crc8: (data) => crc8(bytes(data)),
  "cobs.encode": (data) => hex(encodeCobs(bytes(data))),
  "cobs.decode": (data) => {
    const decoded = decodeCobs(bytes(data));
    return decoded && hex(decoded);
  },
  "cobs.read": (stream) => collected((frame) => createCobsReader({ frame, dropped })(bytes(stream))),
  "frame-a.encode": ({ crc, payload, ...frame }) =>
    hex(encodeFrameA({ ...frame, payload: bytes(payload) }, crc)),
  "frame-a.read": ({ stream, crc }) =>
    collected((take) =>
      createFrameAReader(crc, { frame: (frame) => take(encodeFrameA(frame, crc)), dropped })(bytes(stream)),
    ),
  "frame-a.settle": ({ stream, crc }) =>
    collected((take) => {
      const frame = (one: FrameA) => take(encodeFrameA(one, crc));
      const reader = createFrameAReader(crc, { frame, dropped });
      reader(bytes(stream));
      reader.settle();
    }),
  "length-prefix.encode": (packet) => hex(encodeLengthPrefix(bytes(packet))),
  "length-prefix.read": (stream) =>
    collected((frame) => createLengthPrefixReader({ frame, dropped })(bytes(stream))),
  "iso-tp.encode": (packet) => encodeIsoTp(bytes(packet)).map(hex),
  "iso-tp.receive": (frames: string[]) => {
    const flow: string[] = [];
    const packets = collected((frame) => {
      const { take } = createIsoTpReader({ frame, answer: (one) => flow.push(hex(one)), dropped });
      for (const one of frames) take(bytes(one));
    });
    return { packets, flow };
  },
  "gatt.encode": ({ packet, chunkMax }) => encodeGatt(bytes(packet), chunkMax).map(hex),
  "gatt.receive": (chunks: string[]) =>
    collected((frame) => {
      const take = createGattReader({ frame, dropped });
      for (const chunk of chunks) take(bytes(chunk));
    }),
  "cbor.encode": (value) => hex(encodeCbor(fromPlain(value))),
  "cbor.decode": (data) => plain(decodeCbor(bytes(data))),
  "message.encode": ({ method, id, params }) => hex(encodeRequest(method, id, params)),
  "message.decode": (packet) => meaning(decodePacket(bytes(packet))),
  "framed.encode": ({ method, id, params }) => hex(encodeFramedRequest(method, id, params, 16)),
  "framed.decode": (frame) => {
    const heard: (StubMessage | Unreadable)[] = [];
    const taker = { dropped, frame: (one: FrameA) => heard.push(readFramed(one, "first")) };
    createFrameAReader(16, taker)(bytes(frame));
    return meaning(heard[0]);
  },
  "json.encode": ({ method, id, params }) => JSON.parse(encodeJsonRequest(method, id, params)),
  "json.decode": (text) => meaning(decodeJson(typeof text === "string" ? text : JSON.stringify(text))),
};

const wrongOperation = process.argv[2];

function answer(op: string, input: Json): object {
  if (op === wrongOperation) return { value: "nonsense" };
  try {
    const value = operations[op]?.(input);
    return value === undefined ? { refused: true } : { value };
  } catch {
    return { refused: true };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, op, input } = JSON.parse(line);
  process.stdout.write(`${JSON.stringify({ id, ...answer(op, input) })}\n`);
}
