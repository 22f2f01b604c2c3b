// The event streams of one legacy session: one for what belongs to no request, one for each answer that needs one. All
// can be come back to.
import type { Clock, Hold, HttpRequest, HttpResponse, ResponseStream } from "@mcpx/host";
import { type JsonObject, type Limits, McpxError } from "@mcpx/protocol";
import { createEventStream, type EventStream, readEventId, sseHeaders } from "../mcp/event-stream.ts";
import type { Track } from "./http-reply.ts";

export interface SessionStreamsOptions {
  isPrimed: boolean;
  clock: Clock;
  limits: Pick<Limits, "mcpReplayEventsMax" | "mcpReplayBytesMax" | "mcpResumeMs">;
  /** Throws where no more may be kept for its principal. */
  hold(bytes: number): Hold;
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
  /** The session is over: nobody comes back. */
  close(): void;
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
/** The stream of notifications keeps at most this much, so it is not counted against the caller. */
const asideBytesMax = 16_384;

function asideLimits(limits: SessionStreamsOptions["limits"]): SessionStreamsOptions["limits"] {
  return { ...limits, mcpReplayBytesMax: Math.min(limits.mcpReplayBytesMax, asideBytesMax) };
}

export function createSessionStreams(options: SessionStreamsOptions): SessionStreams {
  const { clock, limits } = options;
  const streams = new Map<number, Kept>();
  const aside = createEventStream({ ...options, number: 0, limits: asideLimits(limits) });
  let last = 0;
  let heardAt = clock.monotonic();
  let hasListened = false;

  function createTrack(onAbandoned: () => void): Track {
    last += 1;
    const number = last;
    const stream = createEventStream({ ...options, number });
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
      get waitingBytes() {
        return stream.waitingBytes;
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
    for (const [number] of over.slice(0, Math.max(0, over.length - overMax))) forget(number);
  }

  function forget(number: number): void {
    streams.get(number)?.stream.forget();
    streams.delete(number);
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

  function disconnect(): void {
    for (const kept of streams.values()) {
      kept.stream.disconnect();
      kept.idleSince ??= clock.monotonic();
    }
    aside.disconnect();
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
        forget(number);
        if (!stream.isOver) abandon();
      }
      if (now - heardAt < keepAliveMs) return;
      heardAt = now;
      aside.keepAlive();
    },
    disconnect,
    close() {
      disconnect();
      for (const number of [...streams.keys()]) forget(number);
      aside.forget();
    },
  };
}
