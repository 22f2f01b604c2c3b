// Profile A: a table stub, of which everything but its answers is configuration. [AX-8.3-1]
import { encodeFrameA, flushA, frameTypes } from "../framing/frame-a.ts";
import { createFrameAReader } from "../framing/frame-a-reader.ts";
import type { FrameReader } from "../framing/framing.ts";
import { decodeLayout, encodeLayout } from "../tools/layout.ts";
import { splitStatus } from "../wire/framed-message.ts";
import { Conversation } from "./conversation.ts";
import { readEvent } from "./read-event.ts";
import { settled } from "./settled.ts";
import { type CreateStub, callMsDefault, fieldsOf } from "./stub.ts";

/** The tool id of heartbeats. */
const heartbeatId = 0;
const nothing = new Uint8Array();

export const createStubA: CreateStub = (
  { tools, events: configured, crc, payloadMax = 8, status: statusPlace = "first" },
  events,
) => {
  const width = crc === 8 ? 8 : 16;
  let read: FrameReader = () => {};
  const conversation = new Conversation({
    ids: 256,
    flush: flushA(payloadMax),
    // A length that noise made larger would swallow one answer after the other.
    forget: () => {
      read = createReader();
    },
    request: (tool, seq, payload) => {
      const type = tool === heartbeatId ? frameTypes.heartbeat : frameTypes.call;
      return encodeFrameA({ type, tool, seq, payload: payload as Uint8Array }, width);
    },
  });
  const hearEvent = (id: number, payload: Uint8Array) => {
    events.heard();
    const said = readEvent(configured, id, ({ layout = "struct", fields }) =>
      decodeLayout(layout, fieldsOf(fields), payload),
    );
    if (typeof said === "string") events.dropped(said);
    else events.said(said);
  };
  const createReader = () =>
    settled(
      createFrameAReader(width, {
        dropped: events.dropped,
        frame: ({ type, tool, seq, payload }) => {
          if (type === frameTypes.event) return hearEvent(tool, payload);
          const isAnswer =
            type === frameTypes.response || (type === frameTypes.heartbeat && tool === heartbeatId);
          const answer = isAnswer ? splitStatus(payload, statusPlace) : undefined;
          // A frame without a status is an echo of the request.
          if (answer === undefined) return events.dropped("a frame that is not an answer");
          events.heard();
          const { status, result } = answer;
          if (status !== 0) conversation.hear(seq, tool, { kind: "error", status, text: undefined });
          else conversation.hear(seq, tool, { kind: "result", result });
        },
      }),
    );
  const heartbeat = async (timeoutMs: number) => {
    const question = { method: heartbeatId, body: nothing, timeoutMs, isRepeatable: false };
    return (await conversation.ask(question)).kind === "result";
  };
  return {
    conversation,
    readLine: () => {
      read = createReader();
      return (bytes) => read(bytes);
    },
    heartbeat,
    greet: async (timeoutMs) => ((await heartbeat(timeoutMs)) ? undefined : "it does not answer"),
    tools: () => tools,
    call: async (tool, values, signal) => {
      const payload = encodeLayout(tool.layout ?? "struct", fieldsOf(tool.arguments), values);
      if (payload === undefined || payload.length > payloadMax) {
        return { kind: "error", status: 2, text: `a payload has at most ${payloadMax} bytes` };
      }
      return conversation.ask({
        method: tool.id,
        body: payload,
        timeoutMs: tool.timeoutMs ?? callMsDefault,
        isRepeatable: tool.capability?.idempotent === true,
        signal,
      });
    },
    read: (tool, { result }) =>
      decodeLayout(tool.layout ?? "struct", fieldsOf(tool.result), result as Uint8Array),
  };
};
