// The answer to one POST: plain JSON where nothing came before it, else a stream of events. Which of the two is decided
// when the first message is there, or when waiting has become long.
import type { HttpRequest, HttpResponse, Principal, ResponseStream } from "@mcpx/host";
import type { JsonObject, McpxError } from "@mcpx/protocol";
import type { CallTable } from "../call-table.ts";
import { faultOf } from "../rpc-error.ts";
import { sseEvent, sseHeaders, sseKeepAlive } from "./event-stream.ts";
import { errorMessage, type RequestId } from "./message.ts";
import { jsonResponse } from "./refusal.ts";
import type { Reply } from "./reply.ts";

/** The stream of one answer. */
export interface Track {
  send(message: JsonObject | JsonObject[]): void;
  attach(out: ResponseStream): void;
  readonly isBehind: boolean;
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
}

/** A client, or something between, that hears nothing at all for longer may think us dead. */
const patienceMs = 10_000;
const keepAliveMs = 15_000;

export function createHttpReply({
  request,
  principal,
  id,
  now,
  open,
  createTrack,
}: HttpReplyOptions): HttpReply {
  const { promise, resolve } = Promise.withResolvers<HttpResponse>();
  let cuts: (() => void)[] = [];
  let track: Track | undefined;
  let isOver = false;
  let heardAt = now;

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

  const reply: HttpReply = {
    principal,
    response: promise,
    get isBehind() {
      return track?.isBehind === true;
    },
    before(message) {
      if (!isOver) opened().send(message);
    },
    answer(message, status) {
      if (!finish()) return;
      if (track === undefined) resolve(jsonResponse(message, status));
      else {
        track.send(message);
        track.end();
      }
    },
    drop() {
      if (!finish()) return;
      if (track === undefined) resolve({ status: 202 });
      else track.end();
    },
    onCut: (callback) => void cuts.push(callback),
    pulse(now) {
      if (now - heardAt < (track === undefined ? patienceMs : keepAliveMs)) return;
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
