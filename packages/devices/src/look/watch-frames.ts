// What goes over a line, frame by frame, in words: for people who look on. Either direction, either profile.
import { createCobsReader } from "../framing/cobs.ts";
import { unsealed } from "../framing/crc.ts";
import { encodeFrameA, type FrameA } from "../framing/frame-a.ts";
import { createFrameAReader } from "../framing/frame-a-reader.ts";
import type { FrameReader } from "../framing/framing.ts";
import type { Encoding } from "../gateway/device-config.ts";
import { CborError, type Decoded, decodeCbor } from "../wire/cbor.ts";

export interface SeenFrame {
  /** In words; what could not be read says so. */
  text: string;
  /** Without what frames it in COBS; empty where nothing could be read. */
  bytes: Uint8Array;
  isRead: boolean;
}

export interface WatchedLine {
  profile: "a" | "b";
  encoding?: Encoding | undefined;
  /** As it is configured; 16 unless given. */
  crc?: 0 | 8 | 16 | undefined;
}

/** One for each direction. */
export function watchFrames(
  { profile, encoding = "cbor", crc = 16 }: WatchedLine,
  see: (frame: SeenFrame) => void,
): FrameReader {
  const dropped = (why: string) => see({ text: why, bytes: new Uint8Array(), isRead: false });
  if (profile === "a" || encoding === "frame") {
    const width = crc === 8 ? 8 : 16;
    return createFrameAReader(width, {
      dropped,
      frame: (frame) => see({ text: wordsOfFrameA(frame), bytes: encodeFrameA(frame, width), isRead: true }),
    });
  }
  const packet = (bytes: Uint8Array) => see({ bytes, ...wordsOfPacket(bytes, crc) });
  if (encoding === "packet") return packet;
  if (encoding === "json")
    return (bytes) => see({ text: Buffer.from(bytes).toString(), bytes, isRead: true });
  return createCobsReader({ dropped, frame: packet });
}

const typesA: Readonly<Record<number, string>> = {
  1: "call",
  2: "response",
  3: "registration",
  4: "heartbeat",
  5: "event",
};

function wordsOfFrameA({ type, tool, seq, payload }: FrameA): string {
  const what = typesA[type] ?? `type ${type}`;
  const body = payload.length === 0 ? "" : ` ${hex(payload)}`;
  return `${what} tool ${tool} seq ${seq}${body}`;
}

function wordsOfPacket(packet: Uint8Array, crc: 0 | 8 | 16): Pick<SeenFrame, "text" | "isRead"> {
  const bytes = crc === 0 ? packet : unsealed(packet);
  if (bytes === undefined) return { text: "a packet with a wrong CRC", isRead: false };
  try {
    const message = decodeCbor(bytes);
    if (message instanceof Map) return { text: wordsOfMessage(message), isRead: true };
    return { text: `no message: ${wordsOf(message)}`, isRead: false };
  } catch (error) {
    if (!(error instanceof CborError)) throw error;
    return { text: `not a message of profile B: ${error.message}`, isRead: false };
  }
}

const words: Readonly<Record<number, string>> = {
  1: "method",
  2: "id",
  3: "params",
  4: "result",
  5: "error",
};
const methods: Readonly<Record<string, string>> = { "-1": "register", "-2": "heartbeat", "-3": "event" };

function wordsOfMessage(message: ReadonlyMap<number, Decoded>): string {
  return [...message]
    .map(([key, value]) => {
      const shown = key === 1 ? (methods[String(value)] ?? `tool ${wordsOf(value)}`) : wordsOf(value);
      return key === 1 ? shown : `${words[key] ?? key} ${shown}`;
    })
    .join(" ");
}

/** As CBOR is written for people. */
function wordsOf(value: Decoded): string {
  if (value instanceof Uint8Array) return `h'${Buffer.from(value).toString("hex")}'`;
  if (Array.isArray(value)) return `[${value.map(wordsOf).join(", ")}]`;
  if (!(value instanceof Map)) return JSON.stringify(value);
  return `{${[...value].map(([key, one]) => `${key}: ${wordsOf(one)}`).join(", ")}}`;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/(..)(?=.)/g, "$1 ");
}
