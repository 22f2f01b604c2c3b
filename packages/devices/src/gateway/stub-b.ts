// Profile B over a line with COBS, as whole packets, or in JSON over MQTT: a stub that says itself which tools it has; names are configuration. [AX-8.3-2]
import { createCobsReader, frameCobs } from "../framing/cobs.ts";
import type { FrameReader } from "../framing/framing.ts";
import { decodeResult, encodeArguments, stubTypeOf } from "../tools/arguments-b.ts";
import type { Field, Values } from "../tools/field.ts";
import type { CborValue, DecodedMap } from "../wire/cbor.ts";
import {
  decodePacket,
  encodeRequest,
  idMax,
  ownMethods,
  readRegistrationOfStub,
  type StubMessage,
  type StubRegistration,
} from "../wire/message.ts";
import {
  decodeJsonBytes,
  encodeJsonRequest,
  jsonBytesMax,
  withBytesAt,
  withRegistrationBytes,
} from "../wire/mqtt-message.ts";
import { Conversation } from "./conversation.ts";
import type { Encoding, ToolConfig } from "./device-config.ts";
import { type CreateStub, callMsDefault, fieldsOf } from "./stub.ts";

interface Codec {
  encode(method: number, id: number, args: readonly CborValue[]): Uint8Array;
  reader(hear: (message: StubMessage | undefined) => void, dropped: (why: string) => void): FrameReader;
  registration(result: DecodedMap): StubRegistration | undefined;
  result(fields: readonly Field[], result: DecodedMap): Values | string;
}

const packets: Codec = {
  encode: encodeRequest,
  reader: (hear) => (packet) => hear(decodePacket(packet)),
  registration: readRegistrationOfStub,
  result: decodeResult,
};

const encodings: Record<Encoding, Codec> = {
  // Over lines that hand over whole packets.
  packet: packets,
  cbor: {
    ...packets,
    encode: (method, id, args) => frameCobs(encodeRequest(method, id, args)),
    reader: (hear, dropped) => createCobsReader({ dropped, frame: packets.reader(hear, dropped) }),
  },
  // A broker hands over whole messages.
  json: {
    encode: (method, id, args) => Buffer.from(encodeJsonRequest(method, id, args)),
    reader: (hear) => (bytes) => hear(decodeJsonBytes(bytes)),
    registration: (result) => readRegistrationOfStub(withRegistrationBytes(result)),
    result: (fields, result) => {
      const keys = [...fields.keys()].filter((key) => fields[key]?.type === "bytes" && result.has(key));
      return decodeResult(fields, withBytesAt(result, keys));
    },
  },
};

export const createStubB: CreateStub = (config, events) => {
  const { encoding = "cbor" } = config;
  let registration: StubRegistration | undefined;
  let isReplaced = false;
  const conversation = new Conversation({
    ids: idMax + 1,
    flush: new Uint8Array(),
    request: (method, id, args) => encodings[encoding].encode(method, id, args as readonly CborValue[]),
  });
  const accept = (accepted: StubRegistration) => {
    registration = accepted;
    isReplaced = false;
    conversation.callsMax = accepted.callsMax;
  };
  const isStranger = ({ serial }: StubRegistration) =>
    config.serial !== undefined && Buffer.from(serial).toString("hex") !== config.serial;
  const hearAnnouncement = (announced: StubRegistration) => {
    if (isStranger(announced)) {
      isReplaced = true;
      conversation.interrupt();
      events.dropped("an announcement of another device");
      events.replaced();
      return;
    }
    accept(announced);
    conversation.interrupt();
    events.heard();
    events.restarted();
  };
  const hear = (message: StubMessage | undefined) => {
    if (message === undefined) return events.dropped("a frame that is no message");
    if (message.kind === "announcement") return hearAnnouncement(message.registration);
    events.heard();
    conversation.hear(message.id, undefined, message);
  };
  const own = (method: number, timeoutMs: number) =>
    conversation.ask({ method, body: [], timeoutMs, isRepeatable: false });
  const greet = async (timeoutMs: number) => {
    const before = registration;
    const answer = await own(ownMethods.register, timeoutMs);
    // A stub that boots while it is asked has announced itself instead.
    if (answer.kind !== "result") return registration === before ? "it does not answer" : undefined;
    const read = encodings[encoding].registration(answer.result as DecodedMap);
    if (read === undefined) return "its registration cannot be read";
    isReplaced = isStranger(read);
    if (isReplaced)
      return `its serial number is ${Buffer.from(read.serial).toString("hex")}, not the configured one`;
    accept(read);
    return undefined;
  };
  return {
    conversation,
    readLine: () => encodings[encoding].reader(hear, events.dropped),
    greet,
    heartbeat: async (timeoutMs) => (await own(ownMethods.heartbeat, timeoutMs)).kind === "result",
    tools: () => config.tools.filter((tool) => registration !== undefined && agrees(tool, registration)),
    call: async (tool, values, signal) => {
      const args = encodeArguments(fieldsOf(tool.arguments), values);
      const fault = faultOfLength(tool, args, encoding, registration?.packetMax ?? 0);
      if (fault !== undefined) return { kind: "error", status: 2, text: fault };
      return conversation.ask({
        method: tool.id,
        body: args,
        timeoutMs: tool.timeoutMs ?? callMsDefault,
        isRepeatable: tool.capability?.idempotent === true,
        isMeant: () => !isReplaced,
        signal,
      });
    },
    read: (tool, { result }) => encodings[encoding].result(fieldsOf(tool.result), result as DecodedMap),
  };
};

/** Announced, with the types that its configuration expects. */
function agrees(tool: ToolConfig, { tools }: StubRegistration): boolean {
  const announced = tools.find(({ id }) => id === tool.id)?.argumentTypes;
  return announced?.join() === fieldsOf(tool.arguments).map(stubTypeOf).join();
}

/** Of the longest id: what does not fit with it might not fit next time. */
function faultOfLength(
  { id }: ToolConfig,
  args: readonly CborValue[],
  encoding: Encoding,
  packetMax: number,
): string | undefined {
  if (encodeRequest(id, idMax, args).length > packetMax) return `a packet has at most ${packetMax} bytes`;
  const isTooLong =
    encoding === "json" && Buffer.byteLength(encodeJsonRequest(id, idMax, args)) > jsonBytesMax;
  return isTooLong ? `a message has at most ${jsonBytesMax} bytes` : undefined;
}
