// The vectors of spec/devices.md, which the C cores pass too.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCobsReader, decodeCobs, encodeCobs } from "./framing/cobs.ts";
import { crc8, crc16 } from "./framing/crc.ts";
import { encodeFrameA, type FrameA } from "./framing/frame-a.ts";
import { createFrameAReader } from "./framing/frame-a-reader.ts";
import type { FrameReader, FrameTaker } from "./framing/framing.ts";
import { createGattReader, encodeGatt } from "./framing/gatt.ts";
import { createIsoTpReader, encodeIsoTp } from "./framing/iso-tp.ts";
import { createLengthPrefixReader, encodeLengthPrefix } from "./framing/length-prefix.ts";
import { type CborValue, type Decoded, decodeCbor, encodeCbor } from "./wire/cbor.ts";
import { encodeFramedRequest, readFramed } from "./wire/framed-message.ts";
import { decodePacket, encodeRequest, type StubMessage, type Unreadable } from "./wire/message.ts";
import { decodeJson, encodeJsonRequest } from "./wire/mqtt-message.ts";

// biome-ignore lint/suspicious/noExplicitAny: each file of vectors has a shape of its own
function vectors(name: string): any {
  const path = join(import.meta.dirname, "..", "..", "..", "spec", "vectors", "devices", `${name}.json`);
  return JSON.parse(readFileSync(path, "utf8"));
}

const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const hex = (data: Uint8Array) => Buffer.from(data).toString("hex");

/** Every stream is read whole, byte by byte and in threes. */
function read(create: (taker: FrameTaker) => FrameReader, stream: Uint8Array): string[] {
  const sizes = [stream.length || 1, 1, 3];
  const [whole, ...others] = sizes.map((size) => {
    const frames: string[] = [];
    const reader = create({ frame: (frame) => frames.push(hex(frame)), dropped: () => {} });
    for (let at = 0; at < stream.length; at += size) reader(stream.subarray(at, at + size));
    return frames;
  });
  for (const other of others) expect(other).toEqual(whole);
  return whole as string[];
}

test("the checksums are the ones of the vectors", () => {
  for (const { data, ...sums } of vectors("crc").cases) {
    expect({ crc16: crc16(bytes(data)), crc8: crc8(bytes(data)) }).toEqual(sums);
  }
});

test("[AX-8.1-1] COBS", () => {
  const { cases, refused, streams } = vectors("cobs");
  for (const { data, encoded } of cases) {
    expect(hex(encodeCobs(bytes(data)))).toBe(encoded);
    expect(hex(decodeCobs(bytes(encoded)) as Uint8Array)).toBe(data);
  }
  for (const { name, encoded } of refused) expect(decodeCobs(bytes(encoded)), name).toBeUndefined();
  for (const { name, stream, frames } of streams) {
    expect(read(createCobsReader, bytes(stream)), name).toEqual(frames);
  }
});

test("[AX-B-1] frames of profile A", () => {
  const { frames, streams, settled } = vectors("profile-a");
  const reread =
    (crc: 8 | 16) =>
    (taker: FrameTaker): FrameReader =>
      createFrameAReader(crc, { ...taker, frame: (frame) => taker.frame(encodeFrameA(frame, crc)) });
  for (const { name, type, tool, seq, payload, ...encoded } of frames) {
    const frame = { type, tool, seq, payload: bytes(payload) };
    expect({ crc16: hex(encodeFrameA(frame, 16)), crc8: hex(encodeFrameA(frame, 8)) }, name).toEqual(encoded);
    expect(read(reread(16), bytes(encoded.crc16)), name).toEqual([encoded.crc16]);
    expect(read(reread(8), bytes(encoded.crc8)), name).toEqual([encoded.crc8]);
  }
  for (const { name, stream, frames: expected } of streams) {
    expect(read(reread(16), bytes(stream)), name).toEqual(expected);
  }
  for (const { name, stream, frames: expected } of settled) {
    const heard: string[] = [];
    const taker = { dropped: () => {}, frame: (frame: FrameA) => heard.push(hex(encodeFrameA(frame, 16))) };
    const reader = createFrameAReader(16, taker);
    reader(bytes(stream));
    expect(heard, name).toEqual([]);
    reader.settle();
    expect(heard, name).toEqual(expected);
  }
});

test("[AX-8.1-3] length prefixes", () => {
  const { cases, streams } = vectors("spi");
  for (const { packet, encoded } of cases) expect(hex(encodeLengthPrefix(bytes(packet)))).toBe(encoded);
  for (const { name, stream, packets } of streams) {
    expect(read(createLengthPrefixReader, bytes(stream)), name).toEqual(packets);
  }
});

test("[AX-8.1-4] ISO-TP", () => {
  const { cases, received } = vectors("iso-tp");
  const receive = (frames: string[]) => {
    const [packets, flow]: string[][] = [[], []];
    const { take } = createIsoTpReader({
      frame: (packet) => packets?.push(hex(packet)),
      answer: (frame) => flow?.push(hex(frame)),
      dropped: () => {},
    });
    for (const frame of frames) take(bytes(frame));
    return { packets, flow };
  };
  for (const { packet, frames } of cases) {
    expect(encodeIsoTp(bytes(packet)).map(hex)).toEqual(frames);
    expect(receive(frames).packets).toEqual([packet]);
  }
  for (const { name, frames, packets, flow } of received)
    expect(receive(frames), name).toEqual({ packets, flow });
});

test("[AX-8.1-2] GATT chunks, of 20 bytes and others", () => {
  const { cases, received } = vectors("gatt");
  const receive = (chunks: string[]) => {
    const packets: string[] = [];
    const take = createGattReader({ frame: (packet) => packets.push(hex(packet)), dropped: () => {} });
    for (const chunk of chunks) take(bytes(chunk));
    return packets;
  };
  for (const { packet, chunkMax, chunks } of cases) {
    expect(encodeGatt(bytes(packet), chunkMax).map(hex)).toEqual(chunks);
    expect(receive(chunks)).toEqual([packet]);
  }
  for (const { name, chunks, packets } of received) expect(receive(chunks), name).toEqual(packets);
});

/** As the vectors write a value. */
function plain(value: Decoded): unknown {
  if (value instanceof Uint8Array) return { bytes: hex(value) };
  if (value instanceof Map) return { map: [...value].map(([key, one]) => [key, plain(one)]) };
  return Array.isArray(value) ? value.map(plain) : value;
}

// biome-ignore lint/suspicious/noExplicitAny: any JSON
function fromPlain(value: any): CborValue {
  if (typeof value === "number" && !Number.isInteger(value)) return { float32: value };
  if (Array.isArray(value)) return value.map(fromPlain);
  if (value?.bytes !== undefined) return bytes(value.bytes);
  if (value?.map !== undefined)
    return new Map(value.map.map(([key, one]: [number, unknown]) => [key, fromPlain(one)]));
  return value;
}

test("[AX-8.2-1] CBOR, only as it may be written", () => {
  const { accepted, refused } = vectors("cbor");
  for (const { cbor, value } of accepted) {
    expect(plain(decodeCbor(bytes(cbor))), cbor).toEqual(value);
    expect(hex(encodeCbor(fromPlain(value)))).toBe(cbor);
  }
  for (const { cbor, name } of refused) expect(() => decodeCbor(bytes(cbor)), name).toThrow();
});

// biome-ignore lint/suspicious/noExplicitAny: any JSON
function meant(means: any): unknown {
  if (means.kind !== "announcement") return means;
  const { version: _, serial, tools, ...rest } = means.registration;
  const read = tools.map(([id, [, ...argumentTypes]]: [number, number[]]) => ({ id, argumentTypes }));
  return { kind: "announcement", registration: { ...rest, serial, tools: read } };
}

function told(message: StubMessage | Unreadable): unknown {
  if (message.kind === "result") return { ...message, result: plain(message.result) };
  if (message.kind === "event") return { ...message, values: plain(message.values) };
  if (message.kind !== "announcement") return message;
  const { serial, ...rest } = message.registration;
  return { kind: "announcement", registration: { ...rest, serial: hex(serial) } };
}

test("[AX-8.2-1] [AX-8.3-2] messages and packets of profile B", () => {
  const { messages, refused } = vectors("profile-b");
  for (const { name, packet, means } of messages) {
    if (means.kind === "call")
      expect(hex(encodeRequest(means.method, means.id, means.params)), name).toBe(packet);
    else expect(told(decodePacket(bytes(packet))), name).toEqual(meant(means));
  }
  for (const { name, packet } of refused)
    expect(decodePacket(bytes(packet)), name).toMatchObject({ kind: "unreadable" });
});

test("[AX-B-1] [AX-8.3-2] profile B in frames, registration by TYPE 3", () => {
  const { framed, framedRefused } = vectors("profile-b");
  const readFrame = (frame: string) => {
    const heard: (StubMessage | Unreadable)[] = [];
    const taker = { dropped: expect.fail, frame: (one: FrameA) => heard.push(readFramed(one, "first")) };
    createFrameAReader(16, taker)(bytes(frame));
    expect(heard).toHaveLength(1);
    return heard[0] as StubMessage | Unreadable;
  };
  for (const { name, frame, means } of framed) {
    if (means.kind === "call")
      expect(hex(encodeFramedRequest(means.method, means.id, means.params, 16)), name).toBe(frame);
    else expect(told(readFrame(frame)), name).toEqual(meant(means));
  }
  for (const { name, frame } of framedRefused)
    expect(readFrame(frame), name).toMatchObject({ kind: "unreadable" });
});

test("[AX-8.1-5] messages in JSON", () => {
  const { messages, refused } = vectors("mqtt");
  for (const { name, json, means } of messages) {
    if (means.kind === "call") {
      expect(JSON.parse(encodeJsonRequest(means.method, means.id, means.params)), name).toEqual(json);
    } else expect(told(decodeJson(JSON.stringify(json))), name).toEqual(meant(means));
  }
  for (const { name, text } of refused) expect(decodeJson(text), name).toMatchObject({ kind: "unreadable" });
});
