// Every decoder of what a wire may bring, and the laws that hold for each whatever it reads. A law that is broken throws.
import { deepStrictEqual, ok } from "node:assert/strict";
import type * as cobs from "../../framing/cobs.ts";
import { sealed } from "../../framing/crc.ts";
import type * as frameA from "../../framing/frame-a.ts";
import type * as frameAReader from "../../framing/frame-a-reader.ts";
import { type FrameTaker, packetBytesMax } from "../../framing/framing.ts";
import type * as gatt from "../../framing/gatt.ts";
import type * as isoTp from "../../framing/iso-tp.ts";
import type * as lengthPrefix from "../../framing/length-prefix.ts";
import type * as slcan from "../../framing/slcan.ts";
import type { Field } from "../../tools/field.ts";
import type * as layout from "../../tools/layout.ts";
import type * as cbor from "../../wire/cbor.ts";
import type * as message from "../../wire/message.ts";
import type * as mqttMessage from "../../wire/mqtt-message.ts";
import { joinPieces, seeds, splitPieces } from "./seeds.ts";

/** The modules under test; a control puts a broken one among them. */
export interface Decoders {
  cobs: typeof cobs;
  lengthPrefix: typeof lengthPrefix;
  isoTp: typeof isoTp;
  gatt: typeof gatt;
  frameA: typeof frameA;
  frameAReader: typeof frameAReader;
  slcan: typeof slcan;
  cbor: typeof cbor;
  message: typeof message;
  mqttMessage: typeof mqttMessage;
  layout: typeof layout;
}

export interface Subject {
  name: string;
  of: keyof Decoders;
  seeds: readonly Uint8Array[];
  /** Throws where a law is broken. */
  check(bytes: Uint8Array): void;
}

export function subjectsOf(decoders: Decoders): Subject[] {
  return [...streams(decoders), ...pieces(decoders), ...messages(decoders), ...layouts(decoders)];
}

/** An ordinary packet, to be read after whatever came before. */
const good = sealed(Uint8Array.from(Buffer.from("a2020704a100f5", "hex")));

interface Stream<T> {
  name: string;
  of: keyof Decoders;
  /** There is one way to write a frame: what is read was sent exactly so. */
  isVerbatim: boolean;
  seeds: readonly Uint8Array[];
  create(taker: Omit<FrameTaker, "frame"> & { frame(frame: T): void }): (bytes: Uint8Array) => void;
  encode(frame: T): Uint8Array;
  isWithinBounds(frame: T): boolean;
  /** Ends whatever was begun. */
  flush: Uint8Array;
  good: T;
}

/** How bytes are handed over, as a line may: all at once, and in pieces. */
const pieceBytes = [1, 3, 64];

function streamSubject<T>(stream: Stream<T>): Subject {
  const open = () => {
    const frames: T[] = [];
    let dropped = 0;
    const read = stream.create({
      frame: (frame) => void frames.push(frame),
      dropped: () => {
        dropped += 1;
      },
    });
    return { frames, read, dropped: () => dropped };
  };
  const check = (bytes: Uint8Array) => {
    const whole = open();
    whole.read(bytes);
    ok(whole.frames.length + whole.dropped() <= bytes.length, "more was told than there are bytes");
    for (const frame of whole.frames) {
      ok(stream.isWithinBounds(frame), "a frame out of bounds");
      ok(
        !stream.isVerbatim || Buffer.from(bytes).includes(Buffer.from(stream.encode(frame))),
        "a frame that nobody has sent",
      );
      const again = open();
      again.read(stream.flush);
      again.read(stream.encode(frame));
      deepStrictEqual(again.frames.at(-1), frame, "what was read cannot be read again");
    }
    const size = pieceBytes[bytes.length % pieceBytes.length] as number;
    const parted = open();
    for (let at = 0; at < bytes.length; at += size) parted.read(bytes.subarray(at, at + size));
    deepStrictEqual(parted.frames, whole.frames, "it matters how bytes are handed over");
    whole.read(stream.flush);
    const before = whole.frames.length;
    whole.read(stream.encode(stream.good));
    deepStrictEqual(whole.frames.slice(before), [stream.good], "the next good frame is not read");
  };
  return { name: stream.name, of: stream.of, seeds: stream.seeds, check };
}

const isPacket = ({ length }: Uint8Array) => length >= 1 && length <= packetBytesMax;

function streams({ cobs, lengthPrefix, frameA, frameAReader, slcan }: Decoders): Subject[] {
  const ofA = (crc: 8 | 16, seedsOf: readonly Uint8Array[], name: string) =>
    streamSubject<frameA.FrameA>({
      name,
      of: "frameAReader",
      isVerbatim: true,
      seeds: seedsOf,
      create: (taker) => frameAReader.createFrameAReader(crc, taker),
      encode: (frame) => frameA.encodeFrameA(frame, crc),
      isWithinBounds: ({ payload }) => payload.length <= frameA.payloadBytesMax,
      flush: frameA.flushA(frameA.payloadBytesMax),
      good: { type: 2, tool: 1, seq: 7, payload: Uint8Array.of(0, 0x7e) },
    });
  const resealedA = ofA(16, seeds.bodyA, "profile A, with a CRC that is right");
  return [
    streamSubject<Uint8Array>({
      name: "COBS",
      of: "cobs",
      isVerbatim: false,
      seeds: seeds.cobs,
      create: (taker) => cobs.createCobsReader(taker),
      encode: (packet) => cobs.frameCobs(packet),
      // One of no bytes can be written too; it is no message.
      isWithinBounds: ({ length }) => length <= packetBytesMax,
      flush: Uint8Array.of(0),
      good,
    }),
    streamSubject<Uint8Array>({
      name: "length prefix",
      of: "lengthPrefix",
      isVerbatim: true,
      seeds: seeds.lengthPrefix,
      create: (taker) => lengthPrefix.createLengthPrefixReader(taker),
      encode: (packet) => lengthPrefix.encodeLengthPrefix(packet),
      isWithinBounds: isPacket,
      // As long as the longest packet and its length: whatever was begun has ended.
      flush: new Uint8Array(packetBytesMax + 2).fill(lengthPrefix.idleByte),
      good,
    }),
    ofA(16, seeds.frameA16, "profile A, CRC-16"),
    ofA(8, seeds.frameA8, "profile A, CRC-8"),
    {
      ...resealedA,
      check: (bytes) => {
        const [type = 0, tool = 0, seq = 0, ...payload] = bytes.subarray(0, frameA.payloadBytesMax);
        resealedA.check(frameA.encodeFrameA({ type, tool, seq, payload: Uint8Array.from(payload) }, 16));
      },
    },
    streamSubject<slcan.CanFrame>({
      name: "SLCAN",
      of: "slcan",
      isVerbatim: false,
      seeds: seeds.slcan,
      create: (taker) => slcan.createSlcanReader(taker),
      encode: (frame) => slcan.encodeSlcan(frame),
      isWithinBounds: ({ id, data }) => id <= 0x7ff && data.length <= 8,
      flush: Uint8Array.of(0x0d),
      good: { id: 0x505, data: Uint8Array.of(1, 2, 3) },
    }),
  ];
}

interface Pieces {
  name: string;
  of: keyof Decoders;
  seeds: readonly Uint8Array[];
  open(): { packets: Uint8Array[]; take(piece: Uint8Array): void };
  encode(packet: Uint8Array): Uint8Array[];
}

/** Of as many pieces as make a counter tell, each byte another, so that one lost or doubled shows. */
const long = Uint8Array.from({ length: 120 }, (_, at) => at);

function piecesSubject({ name, of, seeds: seedsOf, open, encode }: Pieces): Subject {
  const check = (bytes: Uint8Array) => {
    const reader = open();
    const given = splitPieces(bytes);
    for (const piece of given) reader.take(piece);
    ok(reader.packets.length <= given.length, "more packets than pieces");
    ok(reader.packets.every(isPacket), "a packet out of bounds");
    const before = reader.packets.length;
    for (const piece of encode(good)) reader.take(piece);
    deepStrictEqual(reader.packets.slice(before), [good], "the next good packet is not read");
    checkOrder(bytes);
  };
  /** The true pieces, one lost, doubled, or out of turn: what comes of it is right or nothing. */
  const checkOrder = (bytes: Uint8Array) => {
    const sent = encode(long);
    const [kind = 0, at = 0] = bytes;
    const where = at % sent.length;
    const one = sent[where] as Uint8Array;
    const spoil = [
      () => sent.splice(where, 1),
      () => sent.splice(where, 0, one),
      () => sent.splice(where, 2, sent[where + 1] ?? one, one),
    ];
    (spoil[kind % spoil.length] as () => void)();
    const reader = open();
    for (const piece of sent) reader.take(piece);
    for (const packet of reader.packets) deepStrictEqual(packet, long, "a packet that nobody has sent");
  };
  return { name, of, seeds: seedsOf, check };
}

function pieces({ isoTp, gatt }: Decoders): Subject[] {
  const collected = (create: (taker: isoTp.IsoTpTaker) => (piece: Uint8Array) => void) => () => {
    const packets: Uint8Array[] = [];
    const take = create({
      frame: (packet) => void packets.push(packet),
      dropped: () => {},
      answer: (frame) => ok(frame.length === 8, "a frame of another length than 8"),
    });
    return { packets, take };
  };
  return [
    piecesSubject({
      name: "ISO-TP",
      of: "isoTp",
      seeds: seeds.isoTp,
      open: collected((taker) => {
        const { take } = isoTp.createIsoTpReader(taker);
        return (piece) => {
          isoTp.readFlowControl(piece);
          take(piece);
        };
      }),
      encode: isoTp.encodeIsoTp,
    }),
    piecesSubject({
      name: "GATT chunks",
      of: "gatt",
      seeds: [...seeds.gatt, joinPieces(gatt.encodeGatt(long))],
      open: collected((taker) => gatt.createGattReader(taker)),
      encode: gatt.encodeGatt,
    }),
  ];
}

const cborLevelsMax = 6;
const cborEntriesMax = 64;

function levelsOf(value: cbor.Decoded): number {
  if (!(value instanceof Map) && !Array.isArray(value)) return 1;
  const items = [...value.values()] as cbor.Decoded[];
  ok(items.length <= cborEntriesMax, "too many entries");
  return 1 + Math.max(0, ...items.map(levelsOf));
}

function checkMessage(read: message.StubMessage | message.Unreadable): void {
  if (read.kind === "announcement") checkRegistration(read.registration);
  else if (read.kind === "event") checkEvent(read);
  else if (read.kind !== "unreadable") checkAnswer(read);
}

function checkEvent({ event, values }: Extract<message.StubMessage, { kind: "event" }>): void {
  ok(Number.isInteger(event) && event >= 1 && event <= 255, "an event out of bounds");
  ok(values instanceof Map, "values that are not a map");
}

function checkAnswer(read: Extract<message.StubMessage, { kind: "result" | "error" }>): void {
  ok(Number.isInteger(read.id) && read.id >= 0 && read.id <= 0xffff, "an id out of bounds");
  if (read.kind === "result") ok(read.result instanceof Map, "a result that is not a map");
  else {
    ok(Number.isInteger(read.status) && read.status >= 1 && read.status <= 255, "a status out of bounds");
    ok(Buffer.byteLength(read.text ?? "") <= 64, "a text that is too long");
  }
}

function checkRegistration({ serial, packetMax, callsMax, tools }: message.StubRegistration): void {
  ok(serial.length <= 16, "a serial number out of bounds");
  ok(packetMax >= 32 && packetMax <= 1_024 && callsMax >= 1 && callsMax <= 255, "a bound out of bounds");
  ok(new Set(tools.map(({ id }) => id)).size === tools.length, "a tool twice");
  for (const { id, argumentTypes } of tools) {
    ok(id >= 1 && id <= 255 && argumentTypes.length <= 15, "a tool out of bounds");
  }
}

function messages({ cbor, message, mqttMessage }: Decoders): Subject[] {
  return [
    {
      name: "CBOR",
      of: "cbor",
      seeds: seeds.cbor,
      check: (bytes) => {
        const value = decodedOr(cbor, bytes);
        if (value === undefined) return;
        ok(levelsOf(value) <= cborLevelsMax, "too many levels");
        // A float is read as a number; whether it was one is not seen any more.
        if (!bytes.includes(0xfa))
          deepStrictEqual(cbor.encodeCbor(value), bytes, "it can be written otherwise");
      },
    },
    {
      name: "profile B, with a CRC that is right",
      of: "message",
      seeds: seeds.messages,
      check: (bytes) => checkMessage(message.decodePacket(sealed(bytes))),
    },
    {
      name: "profile B",
      of: "message",
      seeds: seeds.messages.map(sealed),
      check: (bytes) => checkMessage(message.decodePacket(bytes)),
    },
    {
      name: "MQTT",
      of: "mqttMessage",
      seeds: seeds.json,
      check: (bytes) => {
        const text = Buffer.from(bytes).toString();
        const read = mqttMessage.decodeJson(text);
        ok(read.kind === "unreadable" || Buffer.byteLength(text) <= 4_096, "a message that is too long");
        checkMessage(read);
        if (read.kind === "result") {
          mqttMessage.withRegistrationBytes(read.result);
          message.readRegistrationOfStub(mqttMessage.withRegistrationBytes(read.result));
        }
      },
    },
  ];
}

function decodedOr({ decodeCbor, CborError }: typeof cbor, bytes: Uint8Array): cbor.Decoded | undefined {
  try {
    return decodeCbor(bytes);
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return undefined;
  }
}

const struct: Field[] = [
  { name: "celsius", type: "i16", scale: 0.1 },
  { name: "pressure", type: "u16", littleEndian: true, offset: 800 },
  { name: "rain", type: "bool" },
  { name: "place", type: "text", length: 4 },
  { name: "wind", type: "f32" },
  { name: "count", type: "u32" },
];
const tlv: Field[] = [
  { name: "speed", type: "u16", tag: 9 },
  { name: "label", type: "text", tag: 2 },
  { name: "key", type: "bytes", tag: 3, length: 3 },
  { name: "ready", type: "bool", tag: 4 },
];
const hex = (text: string) => new Uint8Array(Buffer.from(text, "hex"));

function layouts({ layout }: Decoders): Subject[] {
  const subject = (
    kind: layout.Layout,
    fields: readonly Field[],
    seedsOf: readonly Uint8Array[],
  ): Subject => ({
    name: `layout ${kind}`,
    of: "layout",
    seeds: seedsOf,
    check: (bytes) => {
      const values = layout.decodeLayout(kind, fields, bytes);
      if (typeof values === "string") return;
      const read = fields.filter(({ name }) => Object.hasOwn(values, name));
      ok(Object.keys(values).length === read.length, "a value that is not configured");
      const written = layout.encodeLayout(kind, read, values);
      ok(written !== undefined, "what was read cannot be written");
      const again = layout.decodeLayout(kind, fields, written);
      deepStrictEqual(again, values, "what was read cannot be read again");
    },
  });
  return [
    subject("struct", struct, [
      hex("ffc9d50000c39c6c6d3fc0000000000007"),
      hex("00000000010000000000000000ffffffff"),
    ]),
    subject("tlv", tlv, [hex("0202676f0303010203040101090201020503aabbcc"), hex("09020102")]),
    subject("raw", [{ name: "data", type: "bytes" }], [hex("010203"), hex("")]),
  ];
}
