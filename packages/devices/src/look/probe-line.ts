// Asks who is at the other end of a line, in one profile after the other. Nothing is called.
import { createCobsReader, frameCobs } from "../framing/cobs.ts";
import { encodeFrameA, flushA, frameTypes, payloadBytesMax } from "../framing/frame-a.ts";
import { createFrameAReader } from "../framing/frame-a-reader.ts";
import type { Encoding } from "../gateway/device-config.ts";
import type { Line, OpenLine } from "../lines/line.ts";
import type { DecodedMap } from "../wire/cbor.ts";
import { readFramed } from "../wire/framed-message.ts";
import {
  decodePacket,
  encodeRequest,
  ownMethods,
  readRegistrationOfStub,
  type StubMessage,
  stubTypes,
  type Unreadable,
} from "../wire/message.ts";
import { decodeJsonBytes, encodeJsonRequest, withRegistrationBytes } from "../wire/mqtt-message.ts";

export type FoundDevice =
  | { profile: "a"; crc: 8 | 16 }
  | {
      profile: "b";
      /** It speaks in frames, with a CRC of so many bits; absent: in packets. */
      framedCrc?: 8 | 16;
      /** In hexadecimal. */
      serial: string;
      packetMax: number;
      callsMax: number;
      tools: { id: number; arguments: string[] }[];
    };

export interface ProbeOptions {
  openLine: OpenLine;
  encoding: Encoding;
  /** For each question; 1 000 unless given. */
  timeoutMs?: number | undefined;
}

const questionId = 1;
const nothing = new Uint8Array();

/** `undefined` where nobody answers in any way; rejects where the line cannot be opened or ends. */
export async function probeLine({
  openLine,
  encoding,
  timeoutMs = 1_000,
}: ProbeOptions): Promise<FoundDevice | undefined> {
  const found = Promise.withResolvers<FoundDevice>();
  const readers = readersOf(encoding, found.resolve);
  const line = await openLine({
    bytes: (bytes) => {
      for (const read of readers) read(bytes);
    },
    ended: (why) => found.reject(new Error(`the line has ended: ${why}`)),
  });
  try {
    for (const question of questionsOf(encoding)) {
      const answer = await ask(line, question, found.promise, timeoutMs);
      if (answer !== undefined) return answer;
    }
    return undefined;
  } finally {
    // What is said from now on is heard by nobody.
    found.promise.catch(() => {});
    line.close();
  }
}

async function ask(
  line: Line,
  question: Uint8Array,
  found: Promise<FoundDevice>,
  timeoutMs: number,
): Promise<FoundDevice | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, timeoutMs, undefined);
  line.write(question);
  try {
    return await Promise.race([found, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Profile A last: its flush ends what a stub may have taken for the beginning of a frame. */
function questionsOf(encoding: Encoding): Uint8Array[] {
  if (encoding === "json") return [Buffer.from(encodeJsonRequest(ownMethods.register, questionId, []))];
  const packet = encodeRequest(ownMethods.register, questionId, []);
  if (encoding === "packet") return [packet];
  const heartbeat = { type: frameTypes.heartbeat, tool: 0, seq: questionId, payload: nothing };
  // A stub of profile B in frames answers both, and says first who it is.
  const registration = { ...heartbeat, type: frameTypes.registration };
  const ofA = ([16, 8] as const).map((crc) =>
    Buffer.concat([flushA(payloadBytesMax), encodeFrameA(registration, crc), encodeFrameA(heartbeat, crc)]),
  );
  return [frameCobs(packet), ...ofA];
}

function readersOf(encoding: Encoding, found: (device: FoundDevice) => void) {
  const dropped = () => {};
  const hear = (message: StubMessage | Unreadable) => {
    const device = deviceOf(message, encoding);
    if (device !== undefined) found(device);
  };
  const packet = (bytes: Uint8Array) => hear(decodePacket(bytes));
  if (encoding === "json") return [(bytes: Uint8Array) => hear(decodeJsonBytes(bytes))];
  if (encoding === "packet") return [packet];
  const ofA = ([16, 8] as const).map((crc) =>
    createFrameAReader(crc, {
      dropped,
      // Without a status it is our own question: a line that echoes.
      frame: (frame) => {
        if (frame.type === frameTypes.heartbeat && frame.payload.length === 1) found({ profile: "a", crc });
        if (frame.type !== frameTypes.registration) return;
        const device = deviceOf(readFramed(frame, "first"), encoding);
        if (device?.profile === "b") found({ ...device, framedCrc: crc });
      },
    }),
  );
  return [createCobsReader({ dropped, frame: packet }), ...ofA];
}

function deviceOf(message: StubMessage | Unreadable, encoding: Encoding): FoundDevice | undefined {
  const registration =
    message.kind === "announcement"
      ? message.registration
      : message.kind === "result" && message.id === questionId
        ? readRegistrationOfStub(
            encoding === "json" ? withRegistrationBytes(message.result) : (message.result as DecodedMap),
          )
        : undefined;
  if (registration === undefined) return undefined;
  const { serial, packetMax, callsMax, tools } = registration;
  return {
    profile: "b",
    serial: Buffer.from(serial).toString("hex"),
    packetMax,
    callsMax,
    tools: tools.map(({ id, argumentTypes }) => ({ id, arguments: argumentTypes.map(nameOfType) })),
  };
}

function nameOfType(type: number): string {
  return Object.entries(stubTypes).find(([, number]) => number === type)?.[0] ?? String(type);
}
