// Profile B, however it is written on its line: a stub that says itself which tools it has; names are configuration.
// [AX-8.3-2]
import type { FrameReader } from "../framing/framing.ts";
import { encodeArguments, stubTypeOf } from "../tools/arguments-b.ts";
import type { CborValue, DecodedMap } from "../wire/cbor.ts";
import { ownMethods, type StubRegistration, takesType } from "../wire/message.ts";
import { Conversation } from "./conversation.ts";
import type { ToolConfig } from "./device-config.ts";
import { readEvent } from "./read-event.ts";
import { type CreateStub, callMsDefault, fieldsOf } from "./stub.ts";
import { codecFor, type Heard } from "./stub-b-codecs.ts";

export const createStubB: CreateStub = (config, events) => {
  const codec = codecFor(config);
  let registration: StubRegistration | undefined;
  let isReplaced = false;
  let read: FrameReader = () => {};
  const isFlushed = codec.flush.length > 0;
  const conversation = new Conversation({
    ids: codec.ids,
    flush: codec.flush,
    ...(isFlushed && { forget: () => void openReader() }),
    request: (method, id, args) => codec.encode(method, id, args as readonly CborValue[]),
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
  const hearEvent = (id: number, values: DecodedMap) => {
    if (isReplaced) return events.dropped("an event of another device");
    events.heard();
    const said = readEvent(config.events, id, ({ fields }) => codec.result(fieldsOf(fields), values));
    if (typeof said === "string") events.dropped(said);
    else events.said(said);
  };
  const hear = (message: Heard) => {
    if (message.kind === "unreadable") return events.dropped(message.why);
    if (message.kind === "announcement") return hearAnnouncement(message.registration);
    if (message.kind === "event") return hearEvent(message.event, message.values);
    events.heard();
    conversation.hear(message.id, undefined, message);
  };
  const openReader = () => {
    read = codec.reader(hear, events.dropped);
  };
  const own = (method: number, timeoutMs: number) =>
    conversation.ask({ method, body: [], timeoutMs, isRepeatable: false });
  const greet = async (timeoutMs: number) => {
    const before = registration;
    const answer = await own(ownMethods.register, timeoutMs);
    // A stub that boots while it is asked has announced itself instead.
    if (answer.kind !== "result") return registration === before ? "it does not answer" : undefined;
    const read = codec.registration(answer.result as DecodedMap);
    if (read === undefined) return "its registration cannot be read";
    isReplaced = isStranger(read);
    if (isReplaced)
      return `its serial number is ${Buffer.from(read.serial).toString("hex")}, not the configured one`;
    accept(read);
    return undefined;
  };
  return {
    conversation,
    readLine: () => {
      openReader();
      return (bytes) => read(bytes);
    },
    greet,
    // A device that does not know the request is present anyway.
    heartbeat: async (timeoutMs) => {
      const { kind } = await own(ownMethods.heartbeat, timeoutMs);
      return kind === "result" || kind === "error";
    },
    tools: () => config.tools.filter((tool) => registration !== undefined && agrees(tool, registration)),
    call: async (tool, values, signal) => {
      const args = encodeArguments(fieldsOf(tool.arguments), values);
      const fault = codec.faultOfLength(tool.id, args, registration?.packetMax ?? 0);
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
    read: (tool, { result }) => codec.result(fieldsOf(tool.result), result as DecodedMap),
  };
};

/** Announced, with the types that its configuration expects. */
function agrees(tool: ToolConfig, { tools }: StubRegistration): boolean {
  const announced = tools.find(({ id }) => id === tool.id)?.argumentTypes;
  const wanted = fieldsOf(tool.arguments).map(stubTypeOf);
  if (announced?.length !== wanted.length) return false;
  return wanted.every((type, at) => takesType(announced[at] as number, type));
}
