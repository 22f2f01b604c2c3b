// How profile B is written over each kind of line: as CBOR in COBS, in whole packets, in the frames of profile A, or as JSON.
import { createCobsReader, frameCobs } from "../framing/cobs.ts";
import { flushA } from "../framing/frame-a.ts";
import { createFrameAReader } from "../framing/frame-a-reader.ts";
import type { FrameReader } from "../framing/framing.ts";
import { decodeResult } from "../tools/arguments-b.ts";
import type { Field, Values } from "../tools/field.ts";
import type { CborValue, DecodedMap } from "../wire/cbor.ts";
import { encodeFramedRequest, readFramed, seqCount } from "../wire/framed-message.ts";
import {
  decodeMessage,
  decodePacket,
  encodeMessage,
  encodeRequest,
  idMax,
  readRegistrationOfStub,
  type StubMessage,
  type StubRegistration,
  type Unreadable,
} from "../wire/message.ts";
import {
  decodeJsonBytes,
  encodeJsonRequest,
  jsonBytesMax,
  withBytesAt,
  withRegistrationBytes,
} from "../wire/mqtt-message.ts";
import type { DeviceConfig } from "./device-config.ts";
import { settled } from "./settled.ts";

export type Heard = StubMessage | Unreadable;

export interface CodecB {
  /** How many ids there are before they begin anew. */
  ids: number;
  encode(method: number, id: number, args: readonly CborValue[]): Uint8Array;
  /** Why such a request is too long for the stub, of the longest id; `undefined` where it is not. */
  faultOfLength(method: number, args: readonly CborValue[], packetMax: number): string | undefined;
  reader(hear: (message: Heard) => void, dropped: (why: string) => void): FrameReader;
  /** Ends what the stub may have half read; empty where frames have delimiters. */
  flush: Uint8Array;
  registration(result: DecodedMap): StubRegistration | undefined;
  result(fields: readonly Field[], result: DecodedMap): Values | string;
}

export function codecFor(config: DeviceConfig): CodecB {
  switch (config.encoding ?? "cbor") {
    case "packet":
      return packets;
    case "json":
      return json;
    case "frame":
      return framed(config);
    case "cbor":
      return inCobs(config.crc === 0 ? unsealedPackets : packets);
  }
}

const tooLong = (packetMax: number) => `a packet has at most ${packetMax} bytes`;

/** Over lines that hand over whole packets. */
const packets: CodecB = {
  ids: idMax + 1,
  flush: new Uint8Array(),
  encode: encodeRequest,
  faultOfLength: (method, args, packetMax) =>
    encodeRequest(method, idMax, args).length > packetMax ? tooLong(packetMax) : undefined,
  reader: (hear) => (packet) => hear(decodePacket(packet)),
  registration: readRegistrationOfStub,
  result: decodeResult,
};

/** Of a stub that knows no CRC. */
const unsealedPackets: CodecB = {
  ...packets,
  encode: encodeMessage,
  reader: (hear) => (packet) => hear(decodeMessage(packet)),
};

function inCobs(codec: CodecB): CodecB {
  return {
    ...codec,
    encode: (method, id, args) => frameCobs(codec.encode(method, id, args)),
    reader: (hear, dropped) => createCobsReader({ dropped, frame: codec.reader(hear, dropped) }),
  };
}

/** As long as a LEN of one byte can say, unless the configuration knows better. */
const framedPayloadMax = 124;

function framed({ crc, status = "first", payloadMax = framedPayloadMax }: DeviceConfig): CodecB {
  const width = crc === 8 ? 8 : 16;
  return {
    ...packets,
    ids: seqCount,
    flush: flushA(payloadMax),
    encode: (method, seq, args) => encodeFramedRequest(method, seq, args, width),
    reader: (hear, dropped) =>
      settled(createFrameAReader(width, { dropped, frame: (frame) => hear(readFramed(frame, status)) })),
  };
}

/** A broker hands over whole messages. */
const json: CodecB = {
  ...packets,
  encode: (method, id, args) => Buffer.from(encodeJsonRequest(method, id, args)),
  faultOfLength: (method, args, packetMax) => {
    const isTooLong = Buffer.byteLength(encodeJsonRequest(method, idMax, args)) > jsonBytesMax;
    return (
      packets.faultOfLength(method, args, packetMax) ??
      (isTooLong ? `a message has at most ${jsonBytesMax} bytes` : undefined)
    );
  },
  reader: (hear) => (bytes) => hear(decodeJsonBytes(bytes)),
  registration: (result) => readRegistrationOfStub(withRegistrationBytes(result)),
  result: (fields, result) => {
    const keys = [...fields.keys()].filter((key) => fields[key]?.type === "bytes" && result.has(key));
    return decodeResult(fields, withBytesAt(result, keys));
  },
};
