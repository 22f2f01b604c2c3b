// A stream of server-sent events a client can come back to: every event has an id, the last ones are kept, and a
// connection that is cut is no end.
import type { ResponseStream } from "@mcpx/host";
import type { JsonObject, Limits } from "@mcpx/protocol";
import { textOf } from "./message.ts";

export interface EventStreamOptions {
  /** Unique in its session. */
  number: number;
  /** Since 2025-11-25 a stream begins with an event that has only an id, so that it can be resumed from the start. */
  isPrimed: boolean;
  limits: Pick<Limits, "mcpReplayEventsMax" | "mcpReplayBytesMax">;
}

export interface EventStream {
  readonly isAttached: boolean;
  /** The client does not read what it was sent. */
  readonly isBehind: boolean;
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
}

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

export function createEventStream({ number, isPrimed, limits }: EventStreamOptions): EventStream {
  /** The last events; the newest has `position`. */
  const kept: string[] = [];
  let keptChars = 0;
  let position = 0;
  let out: ResponseStream | undefined;
  let isOver = false;

  function keep(text: string): void {
    kept.push(text);
    keptChars += text.length;
    // The newest stays whatever its size: it may be the answer.
    while (
      kept.length > limits.mcpReplayEventsMax ||
      (keptChars > limits.mcpReplayBytesMax && kept.length > 1)
    ) {
      keptChars -= kept.shift()?.length ?? 0;
    }
  }

  return {
    get isAttached() {
      return out !== undefined;
    },
    get isBehind() {
      return out?.isBehind === true;
    },
    get isOver() {
      return isOver;
    },
    send(message) {
      if (isOver) return;
      position += 1;
      const text = sseEvent(message, `${number}-${position}`);
      keep(text);
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
  };
}
