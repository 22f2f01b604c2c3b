// The body of an HTTP answer as what it says it is: JSON, or a stream of events.
import { GatheredBytes } from "@mcpx/host";
import { isObject, type JsonObject, McpxError, parseExact } from "@mcpx/protocol";
import { type EventBytes, readEventBytes } from "./event-reader.ts";
import type { HttpAnswer } from "./http-attempt.ts";
import { answerIdIn, tooLarge } from "./lost-answer.ts";
import type { WireTaker } from "./wire.ts";

const logLineCharsMax = 400;

export function isEventStream(answer: HttpAnswer): boolean {
  return /^text\/event-stream\b/i.test(answer.headers["content-type"] ?? "");
}

export function isJson(answer: HttpAnswer): boolean {
  return /^application\/json\b/i.test(answer.headers["content-type"] ?? "");
}

/** `done` gets the text, or a fault: too large, or broken off. */
export function readText(
  answer: HttpAnswer,
  bytesMax: number,
  done: (text: string | undefined, fault?: McpxError) => void,
): void {
  const body = new GatheredBytes();
  let bytes = 0;
  answer.read({
    data(chunk) {
      bytes += chunk.length;
      if (bytes <= bytesMax) body.add(chunk);
      else answer.destroy();
    },
    over(isWhole) {
      if (bytes > bytesMax) done(undefined, new McpxError("bad_server_answer", tooLarge(bytesMax)));
      else if (!isWhole) done(undefined, new McpxError("server_lost", "its answer broke off"));
      else done(body.whole().toString("utf8"));
    },
  });
}

/** `over` is called once, with what went wrong where the stream did not simply end. */
export function readEvents(answer: HttpAnswer, reader: EventBytes, over: (fault?: McpxError) => void): void {
  let fault: McpxError | undefined;
  answer.read({
    data(chunk) {
      if (fault !== undefined) return;
      try {
        reader.push(chunk);
      } catch (error) {
        fault = error as McpxError;
        answer.destroy();
      }
    },
    over: () => over(fault),
  });
}

/** The messages in a text: one, or a batch. Returns false where it has none. */
export function takeMessages(text: string, take: (message: JsonObject) => void): boolean {
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return false;
  }
  if (isObject(value)) take(value);
  // COMPAT: MCP 2025-03-26 had batches.
  else if (Array.isArray(value)) {
    for (const message of value) if (isObject(message)) take(message);
  } else return false;
  return true;
}

/** Reads a stream that carries messages for everybody: what cannot be read of it is told of, and the rest goes on. */
export function commonReader(
  bytesMax: number,
  taker: WireTaker,
  other?: (data: string, type: string) => void,
): EventBytes {
  const take = (data: string, type: string) => {
    if (type !== "message") other?.(data, type);
    else if (!takeMessages(data, (message) => taker.message(message))) {
      taker.logLine(`(no JSON-RPC message: ${data.slice(0, logLineCharsMax)})`);
    }
  };
  return readEventBytes(bytesMax, take, (head, tail) => {
    taker.logLine(`(a message of more than ${bytesMax} bytes was dropped)`);
    const id = answerIdIn(head, tail);
    if (id !== undefined) taker.unreadable?.(id, tooLarge(bytesMax));
  });
}
