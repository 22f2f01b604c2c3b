// The answer to one POST: plain JSON where nothing came before it, else a stream of events. Which of the two is decided
// when the first message is there, or when waiting has become long.
import type { Hold, HttpRequest, HttpResponse, Principal, ResponseStream } from "@mcpx/host";
import { heapBytesOf, isMcpxError, type JsonObject, McpxError, stringBytesOf } from "@mcpx/protocol";
import type { CallTable } from "../mcp/call-table.ts";
import { sseEvent, sseHeaders, sseKeepAlive } from "../mcp/event-stream.ts";
import { errorMessage, type RequestId } from "../mcp/message.ts";
import { faultOf } from "../mcp/rpc-error.ts";
import { jsonResponse } from "./refusal.ts";
import type { Reply } from "./reply.ts";

/** The stream of one answer. */
export interface Track {
  send(message: JsonObject | JsonObject[]): void;
  attach(out: ResponseStream): void;
  readonly isBehind: boolean;
  readonly waitingBytes: number;
  keepAlive(): void;
  end(): void;
  /** The connection is gone; whether the answer is too is the track's to say. */
  lost(): void;
}

export interface HttpReply extends Reply {
  readonly principal: Principal;
  readonly response: Promise<HttpResponse>;
  /** Comes by from time to time. */
  pulse(now: number): void;
  /** Ends it with an error, from our side. */
  end(error: McpxError): void;
}

export interface HttpReplyOptions {
  request: HttpRequest;
  principal: Principal;
  id: RequestId | null;
  now: number;
  /** All that are open; the reply takes itself out. */
  open: CallTable<HttpReply>;
  createTrack(onAbandoned: () => void): Track;
  /** Throws where no more may be kept for its principal. */
  hold(bytes: number): Hold;
}

/** A client or proxy that receives no byte for longer may close the connection. */
const quietMsMax = 10_000;
const keepAliveMs = 15_000;
/** What is as small as this waits in the buffers of the connection, and is not counted. */
const uncountedBytes = 16_384;

export function createHttpReply({
  request,
  principal,
  id,
  now,
  open,
  createTrack,
  hold,
}: HttpReplyOptions): HttpReply {
  const { promise, resolve } = Promise.withResolvers<HttpResponse>();
  let cuts: (() => void)[] = [];
  let track: Track | undefined;
  let isOver = false;
  let heardAt = now;
  /** What was written and not read. */
  let unread: Hold | undefined;

  /** Throws where its principal has too much to read already. */
  function count(bytes: number): void {
    if (bytes <= uncountedBytes) return;
    if (unread === undefined) {
      unread = hold(bytes);
      request.onDone(unread.release);
    } else unread.resize(bytes);
  }

  function countRead(): void {
    const waitingBytes = track?.waitingBytes ?? 0;
    if (unread !== undefined && waitingBytes < unread.bytes) unread.resize(waitingBytes);
  }

  function finish(): boolean {
    if (isOver) return false;
    isOver = true;
    open.delete(place);
    return true;
  }

  function cut(): void {
    if (!finish()) return;
    // Nobody reads it, but a handler must end.
    if (track === undefined) resolve({ status: 202 });
    else track.end();
    for (const callback of cuts) callback();
    cuts = [];
  }

  function opened(): Track {
    if (track !== undefined) return track;
    const stream = createTrack(cut);
    track = stream;
    resolve({ headers: sseHeaders, stream: (out) => stream.attach(out) });
    return stream;
  }

  /** The message, or that there is no room for it until its reader has read others. */
  function orLost<T>(bytes: number, message: T): T | JsonObject {
    try {
      count(bytes);
      return message;
    } catch (error) {
      if (!isMcpxError(error)) throw error;
      const { code, detail, retryAfterMs = 0 } = error;
      const lost = `the request was carried out, but its answer cannot be kept: read the waiting answers first: ${detail}`;
      return errorMessage(id, faultOf(new McpxError(code, lost, { retryAfterMs })));
    }
  }

  function whole(message: JsonObject | JsonObject[], status: number | undefined): HttpResponse {
    const response = jsonResponse(message, status);
    const given = orLost(stringBytesOf(response.text ?? ""), message);
    return given === message ? response : jsonResponse(given, status);
  }

  const reply: HttpReply = {
    principal,
    response: promise,
    get isBehind() {
      return track?.isBehind === true;
    },
    before(message) {
      if (isOver) return;
      const stream = opened();
      try {
        count(stream.waitingBytes + heapBytesOf(message));
      } catch (error) {
        // As for a reader that is behind: notifications are left out. Questions were counted when they were asked.
        if (!isMcpxError(error)) throw error;
        if (message.id === undefined) return;
      }
      stream.send(message);
      countRead();
    },
    answer(message, status) {
      if (!finish()) return;
      if (track === undefined) resolve(whole(message, status));
      else {
        track.send(orLost(track.waitingBytes + heapBytesOf(message), message));
        track.end();
        countRead();
      }
    },
    drop() {
      if (!finish()) return;
      if (track === undefined) resolve({ status: 202 });
      else track.end();
    },
    onCut: (callback) => void cuts.push(callback),
    pulse(now) {
      countRead();
      if (now - heardAt < (track === undefined ? quietMsMax : keepAliveMs)) return;
      heardAt = now;
      opened().keepAlive();
    },
    end(error) {
      if (isOver) return;
      const callbacks = cuts;
      reply.answer(errorMessage(id, faultOf(error)));
      for (const callback of callbacks) callback();
    },
  };
  request.onGone(() => {
    if (track === undefined) cut();
    else track.lost();
  });
  const place = open.add(reply);
  return reply;
}

/** A stream nobody can come back to: losing the connection is taking the request back. */
export function createPlainTrack(onAbandoned: () => void): Track {
  let early: string[] = [];
  let out: ResponseStream | undefined;
  let isOver = false;
  const write = (text: string) => {
    if (out === undefined) early.push(text);
    else out.write(text);
  };
  return {
    get isBehind() {
      return out?.isBehind === true;
    },
    get waitingBytes() {
      return out?.waitingBytes ?? early.reduce((sum, text) => sum + text.length, 0);
    },
    send: (message) => write(sseEvent(message)),
    keepAlive: () => write(sseKeepAlive),
    attach(opened) {
      out = opened;
      if (early.length > 0) out.write(early.join(""));
      early = [];
      if (isOver) out.end();
    },
    end() {
      isOver = true;
      out?.end();
    },
    lost: onAbandoned,
  };
}
