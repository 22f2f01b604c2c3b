// A stream of server-sent events a client can come back to: every event has an id, the last ones are kept, and a
// connection that is cut is no end.
import type { Hold, ResponseStream } from "@mcpx/host";
import { isMcpxError, type JsonObject, type Limits, McpxError, stringBytesOf } from "@mcpx/protocol";
import { errorMessage, isId, textOf } from "./message.ts";
import { faultOf } from "./rpc-error.ts";

export interface EventStreamOptions {
  /** Unique in its session. */
  number: number;
  /** Since 2025-11-25 a stream begins with an event that has only an id, so that it can be resumed from the start. */
  isPrimed: boolean;
  limits: Pick<Limits, "mcpReplayEventsMax" | "mcpReplayBytesMax">;
  /** Throws where no more may be kept for its principal. */
  hold(bytes: number): Hold;
}

export interface EventStream {
  readonly isAttached: boolean;
  /** The client does not read what it was sent. */
  readonly isBehind: boolean;
  readonly waitingBytes: number;
  /** Nothing will be sent any more. */
  readonly isOver: boolean;
  send(message: JsonObject | JsonObject[]): void;
  /** A connection to write to, in place of the one before: first what it has missed after `position`. */
  attach(out: ResponseStream, position?: number): void;
  detach(out: ResponseStream): void;
  /** Ends the connection, not the stream. */
  disconnect(): void;
  keepAlive(): void;
  end(): void;
  /** Nobody comes back to it: nothing is kept any more. */
  forget(): void;
}

const uncountedBytes = 16_384;
/** How soon a client should come back. */
const retryMs = 1_000;

export const sseHeaders = { "content-type": "text/event-stream", "x-accel-buffering": "no" };

export function sseEvent(message: JsonObject | JsonObject[], id?: string): string {
  const head = id === undefined ? "event: message\n" : `event: message\nid: ${id}\n`;
  return `${head}data: ${textOf(message)}\n\n`;
}

export const sseKeepAlive = ": keepalive\n\n";

/** Stream and position of a `Last-Event-ID`. */
export function readEventId(id: string): { number: number; position: number } | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(id);
  return match === null ? undefined : { number: Number(match[1]), position: Number(match[2]) };
}

export function createEventStream({ number, isPrimed, limits, hold }: EventStreamOptions): EventStream {
  /** The last events; the newest has `position`. */
  const kept: string[] = [];
  let keptBytes = 0;
  let held: Hold | undefined;
  let isForgotten = false;
  let position = 0;
  let out: ResponseStream | undefined;
  let isOver = false;

  function keep(text: string, message: JsonObject | JsonObject[]): void {
    if (isForgotten) return;
    kept.push(text);
    keptBytes += stringBytesOf(text);
    // The newest stays whatever its size, where it is an answer or a question.
    const staying = isNotification(message) ? 0 : 1;
    while (
      kept.length > limits.mcpReplayEventsMax ||
      (keptBytes > limits.mcpReplayBytesMax && kept.length > staying)
    ) {
      shift();
    }
    for (let error = fit(); error !== undefined; error = fit()) {
      if (kept.length > 1) shift();
      else replace(sseEvent(lost(message, error), idAt(position)));
    }
  }

  function shift(): void {
    keptBytes -= stringBytesOf(kept.shift() ?? "");
  }

  function replace(text: string): void {
    shift();
    kept.push(text);
    keptBytes += stringBytesOf(text);
  }

  const idAt = (at: number) => `${number}-${at}`;

  /** Why its principal has no room for what is kept. What is as small as this is kept in any case. */
  function fit(): McpxError | undefined {
    if (keptBytes <= uncountedBytes && held === undefined) return undefined;
    try {
      held ??= hold(0);
      held.resize(keptBytes <= uncountedBytes ? 0 : keptBytes);
      return undefined;
    } catch (error) {
      if (isMcpxError(error)) return error;
      throw error;
    }
  }

  return {
    get isAttached() {
      return out !== undefined;
    },
    get isBehind() {
      return out?.isBehind === true;
    },
    get waitingBytes() {
      return out?.waitingBytes ?? 0;
    },
    get isOver() {
      return isOver;
    },
    send(message) {
      if (isOver) return;
      position += 1;
      const text = sseEvent(message, idAt(position));
      keep(text, message);
      out?.write(text);
    },
    attach(next, from = position) {
      out?.end();
      out = next;
      if (isPrimed) out.write(`id: ${number}-${Math.min(from, position)}\nretry: ${retryMs}\ndata: \n\n`);
      const missed = Math.max(0, Math.min(position - from, kept.length));
      if (missed > 0) out.write(kept.slice(-missed).join(""));
      if (isOver) out.end();
    },
    detach(gone) {
      if (out === gone) out = undefined;
    },
    disconnect() {
      out?.end();
      out = undefined;
    },
    keepAlive() {
      out?.write(sseKeepAlive);
    },
    end() {
      isOver = true;
      out?.end();
    },
    forget() {
      isForgotten = true;
      kept.length = 0;
      keptBytes = 0;
      held?.release();
    },
  };
}

function isNotification(message: JsonObject | JsonObject[]): boolean {
  return !Array.isArray(message) && message.id === undefined;
}

/** What stands in the place of a message that cannot be kept: its request was served, and that must be known. */
function lost(message: JsonObject | JsonObject[], error: McpxError): JsonObject {
  const { id } = Array.isArray(message) ? {} : message;
  const detail = `a message could not be kept for your return: ${error.detail}`;
  return errorMessage(isId(id) ? id : null, faultOf(new McpxError(error.code, detail)));
}
