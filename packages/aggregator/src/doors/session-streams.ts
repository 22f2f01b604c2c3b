// The event streams of one legacy session: one for what belongs to no request, one for each answer that needs one. All
// can be come back to.
import type { Clock, HttpRequest, HttpResponse, ResponseStream } from "@mcpx/host";
import { type JsonObject, type Limits, McpxError } from "@mcpx/protocol";
import { createEventStream, type EventStream, readEventId, sseHeaders } from "./event-stream.ts";
import type { Track } from "./http-reply.ts";

export interface SessionStreamsOptions {
  isPrimed: boolean;
  clock: Clock;
  limits: Pick<Limits, "mcpReplayEventsMax" | "mcpReplayBytesMax" | "mcpResumeMs">;
}

export interface SessionStreams {
  /** Whether somebody listens to what belongs to no request. */
  readonly isOpen: boolean;
  readonly isAttached: boolean;
  readonly isBehind: boolean;
  /** What belongs to no request; nothing is kept before somebody has listened. */
  send(message: JsonObject): void;
  createTrack(onAbandoned: () => void): Track;
  /** A GET: the stream of what belongs to no request, or the one `Last-Event-ID` names. Throws `bad_request`. */
  connect(request: HttpRequest, lastEventId: string | undefined): HttpResponse;
  sweep(): void;
  /** Ends all connections; the streams can be come back to. */
  disconnect(): void;
}

interface Kept {
  stream: EventStream;
  /** Since when nobody reads it, or nothing is written to it any more. */
  idleSince: number | undefined;
  abandon(): void;
}

/** Streams that are over, kept for clients that lost their end. */
const overMax = 32;
const keepAliveMs = 15_000;

export function createSessionStreams({ isPrimed, clock, limits }: SessionStreamsOptions): SessionStreams {
  const streams = new Map<number, Kept>();
  const aside = createEventStream({ number: 0, isPrimed, limits });
  let last = 0;
  let heardAt = clock.monotonic();
  let hasListened = false;

  function createTrack(onAbandoned: () => void): Track {
    last += 1;
    const number = last;
    const stream = createEventStream({ number, isPrimed, limits });
    const kept: Kept = { stream, idleSince: undefined, abandon: onAbandoned };
    let first: ResponseStream | undefined;
    let isLost = false;
    streams.set(number, kept);
    const lose = () => {
      if (first !== undefined) stream.detach(first);
      if (!stream.isAttached) kept.idleSince = clock.monotonic();
    };
    return {
      get isBehind() {
        return stream.isBehind;
      },
      send: stream.send,
      keepAlive: stream.keepAlive,
      attach(out) {
        first = out;
        stream.attach(out, 0);
        if (isLost) lose();
      },
      end() {
        stream.end();
        kept.idleSince = clock.monotonic();
        forgetSome();
      },
      lost() {
        isLost = true;
        lose();
      },
    };
  }

  /** Oldest first. */
  function forgetSome(): void {
    const over = [...streams].filter(([, { stream }]) => stream.isOver);
    for (const [number] of over.slice(0, Math.max(0, over.length - overMax))) streams.delete(number);
  }

  function find(lastEventId: string | undefined): { stream: EventStream; kept?: Kept; position?: number } {
    if (lastEventId === undefined) return { stream: aside };
    const { number, position } = readEventId(lastEventId) ?? {};
    const kept = number === undefined ? undefined : streams.get(number);
    if (number === undefined || position === undefined || (number !== 0 && kept === undefined)) {
      throw new McpxError("bad_request", "Last-Event-ID names no stream of this session");
    }
    return kept === undefined ? { stream: aside, position } : { stream: kept.stream, kept, position };
  }

  return {
    get isOpen() {
      return aside.isAttached;
    },
    get isAttached() {
      return (
        aside.isAttached || [...streams.values()].some(({ stream }) => stream.isAttached && !stream.isOver)
      );
    },
    get isBehind() {
      return aside.isBehind;
    },
    send(message) {
      if (hasListened) aside.send(message);
    },
    createTrack,
    connect(request, lastEventId) {
      const { stream, kept, position } = find(lastEventId);
      let opened: ResponseStream | undefined;
      let isGone = false;
      const leave = () => {
        isGone = true;
        if (opened === undefined) return;
        stream.detach(opened);
        if (kept !== undefined && !stream.isAttached) kept.idleSince = clock.monotonic();
      };
      request.onGone(leave);
      return {
        headers: sseHeaders,
        stream(out) {
          opened = out;
          if (kept === undefined) hasListened = true;
          stream.attach(out, position);
          if (kept !== undefined && !stream.isOver) kept.idleSince = undefined;
          if (isGone) leave();
        },
      };
    },
    sweep() {
      const now = clock.monotonic();
      for (const [number, { stream, idleSince, abandon }] of streams) {
        if (idleSince === undefined || now - idleSince < limits.mcpResumeMs) continue;
        streams.delete(number);
        if (!stream.isOver) abandon();
      }
      if (now - heardAt < keepAliveMs) return;
      heardAt = now;
      aside.keepAlive();
    },
    disconnect() {
      for (const kept of streams.values()) {
        kept.stream.disconnect();
        kept.idleSince ??= clock.monotonic();
      }
      aside.disconnect();
    },
  };
}
