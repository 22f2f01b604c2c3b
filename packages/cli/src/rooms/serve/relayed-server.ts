// An MCP server of elsewhere as `room.serve` wants one: messages are passed on as they are, in both directions. The
// server is introduced once in each of its lives, by us; peers are answered from what it said then.
import { setTimeout as wait } from "node:timers/promises";
import type { Wire, WireTaker } from "@mcpx/aggregator";
import {
  backoffMs,
  defaultLimits,
  isMcpxError,
  isObject,
  isRequestId,
  type JsonObject,
} from "@mcpx/protocol";
import { Failure } from "../../framework/failure.ts";
import { version } from "../../framework/version.ts";

/** Begins one life of the server. */
export type OpenServer = (taker: WireTaker) => Promise<Wire>;

export interface RelayNews {
  logLine(line: string): void;
  /** It ended by itself and is started again after `retryMs`. */
  lost(why: string, retryMs: number): void;
  back(): void;
}

/** The little of a transport that is needed; the room's end of the relay. */
interface RoomSide {
  onmessage?: ((message: JsonObject) => void) | undefined;
  send(message: JsonObject): Promise<void>;
}

/** A package runner may have to fetch the server first. */
const readyMs = 120_000;
const backoff = { minMs: 500, maxMs: 30_000 };
/** Having lived this long it was a good one, and the next delay is the first again. */
const goodMs = 30_000;
/** Rooms speak no older revision; what tools need of it has not changed since. */
const oldestShown = "2025-06-18";
const initializeId = "mcpx:initialize";
const introduction = {
  jsonrpc: "2.0",
  id: initializeId,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "mcpx", version } },
};
/** What the envelope around an answer may take. */
const envelopeBytes = 2_048;

export class RelayedServer {
  readonly #open: OpenServer;
  readonly #where: string;
  readonly #news: RelayNews;
  readonly #closing = new AbortController();
  /** Requests of the room that the server has not answered. */
  readonly #asked = new Set<string | number>();
  #room: RoomSide | undefined;
  #wire: Wire | undefined;
  #introduction: JsonObject = {};
  #introduced: PromiseWithResolvers<JsonObject> | undefined;
  #living: Promise<void> | undefined;

  /** `where` is what people call it: its address, its command. */
  constructor(open: OpenServer, where: string, news: RelayNews) {
    this.#open = open;
    this.#where = where;
    this.#news = news;
  }

  /** What the server calls itself. */
  get serverName(): string {
    const { serverInfo } = this.#introduction;
    return isObject(serverInfo) ? [serverInfo.name, serverInfo.version].join(" ").trim() : "";
  }

  /** Starts the server and shakes hands with it; from then on it is kept alive. */
  async start(signal: AbortSignal): Promise<void> {
    const stop = () => void this.close();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    try {
      const wire = await this.#begin();
      this.#living = this.#keepAlive(wire);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  /** Called by the room. */
  async connect(room: RoomSide): Promise<void> {
    this.#room = room;
    room.onmessage = (message) => this.#fromRoom(message);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#introduced?.reject(new Failure("interrupted"));
    await this.#wire?.close();
    await this.#living;
  }

  async #begin(): Promise<Wire> {
    const introduced = Promise.withResolvers<JsonObject>();
    introduced.promise.catch(() => {});
    this.#introduced = introduced;
    const wire = await this.#open({
      message: (message) => this.#fromServer(message),
      logLine: (line) => this.#news.logLine(line),
      unreadable: (id, detail) =>
        this.#asked.delete(id) && this.#fail(id, `Too large: ${detail}`, "too_large"),
    }).catch((error: unknown) => {
      throw isMcpxError(error) ? new Failure(error.detail, error.suggestion) : error;
    });
    this.#wire = wire;
    void wire.ended.then((why) =>
      introduced.reject(new Failure(`the server ended before it was ready (${why})`)),
    );
    const timer = setTimeout(() => introduced.reject(silent()), readyMs);
    this.#send(wire, introduction);
    try {
      if (this.#closing.signal.aborted) throw new Failure("interrupted");
      this.#introduction = shownRevision(await introduced.promise);
      this.#send(wire, { jsonrpc: "2.0", method: "notifications/initialized" });
      return wire;
    } catch (error) {
      await wire.close();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#introduced = undefined;
    }
  }

  async #keepAlive(first: Wire): Promise<void> {
    let wire: Wire | undefined = first;
    let failures = 0;
    let why = "";
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (wire !== undefined) {
        const beganAtMs = performance.now();
        why = await wire.ended;
        this.#wire = undefined;
        if (performance.now() - beganAtMs > goodMs) failures = 0;
        this.#failAsked(why);
        // A session of HTTP that is over has let go of nothing yet.
        await wire.close();
      }
      if (signal.aborted) return;
      const retryMs = backoffMs(failures, backoff);
      failures += 1;
      this.#news.lost(why, retryMs);
      await wait(retryMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      wire = await this.#begin().catch((error: unknown) => {
        why = error instanceof Error ? error.message : String(error);
        return undefined;
      });
      if (wire === undefined) continue;
      this.#news.back();
      // The restarted server may be another version with other tools.
      this.#toRoom({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
    }
  }

  #fromRoom(message: JsonObject): void {
    const { id, method, params } = message;
    if (method === "initialize") {
      this.#toRoom({ jsonrpc: "2.0", id, result: this.#introduction });
      return;
    }
    if (method === "notifications/initialized") return;
    if (method === "notifications/cancelled" && isObject(params)) {
      this.#asked.delete(params.requestId as string | number);
    }
    const isRequest = typeof method === "string" && isRequestId(id);
    const wire = this.#introduced === undefined ? this.#wire : undefined;
    if (wire !== undefined) {
      if (isRequest) this.#asked.add(id);
      this.#send(wire, message);
    } else if (isRequest) {
      this.#fail(id, "The server is being started again; try again soon", "server_restarting");
    }
  }

  /** What cannot be sent, or is over without an answer, is answered by us. */
  #send(wire: Wire, message: JsonObject): void {
    const take = (taken: JsonObject) => this.#fromServer(taken);
    wire.send(message, { take }).then(
      () => wire.hasStreams && this.#unanswered(message, "it answered nothing", "bad_server_answer"),
      (error: unknown) => {
        const [fault, reason] = isMcpxError(error)
          ? [error.detail, error.code]
          : [error instanceof Error ? error.message : String(error), "server_unreachable"];
        // The reason why the server ended says more than the write error.
        if (this.#wire === wire) this.#unanswered(message, fault, reason);
      },
    );
  }

  #unanswered({ id, method }: JsonObject, fault: string, reason: string): void {
    if (id === initializeId && method !== undefined) {
      this.#introduced?.reject(new Failure(`the server refused to be introduced: ${this.#where}: ${fault}`));
    } else if (isRequestId(id) && method !== undefined && this.#asked.delete(id)) {
      this.#fail(id, fault, reason);
    }
  }

  #fromServer(message: JsonObject): void {
    const { id, method } = message;
    if (method === "ping" && isRequestId(id)) {
      if (this.#wire !== undefined) this.#send(this.#wire, { jsonrpc: "2.0", id, result: {} });
    } else if (typeof method === "string") {
      // What it asks back is answered by the room, which knows whether there is somebody to ask.
      if (this.#introduced === undefined) this.#toRoom(message);
    } else if (id === initializeId) {
      this.#introduce(message);
    } else if (isRequestId(id) && this.#asked.delete(id)) {
      this.#answer(id, message);
    }
  }

  #introduce({ result, error }: JsonObject): void {
    if (isObject(result)) this.#introduced?.resolve(result);
    else {
      const said = isObject(error) ? String(error.message) : "no result";
      this.#introduced?.reject(new Failure(`the server refused to be introduced: ${said}`));
    }
  }

  #answer(id: string | number, message: JsonObject): void {
    const bytes = Buffer.byteLength(JSON.stringify(message)) + envelopeBytes;
    const bytesMax = defaultLimits.envelopeBytesMax;
    if (bytes <= bytesMax) this.#toRoom(message);
    else {
      const text = `The answer is too large for a room: ${bytes} bytes, ${bytesMax} are allowed`;
      this.#fail(id, text, "too_large");
    }
  }

  #failAsked(why: string): void {
    for (const id of this.#asked)
      this.#fail(id, `The server ended before it answered (${why})`, "server_ended");
    this.#asked.clear();
  }

  #fail(id: string | number, message: string, reason: string): void {
    this.#toRoom({ jsonrpc: "2.0", id, error: { code: -32603, message, data: { reason } } });
  }

  #toRoom(message: JsonObject): void {
    this.#room?.send(message).catch((error: unknown) => this.#news.logLine(String(error)));
  }
}

/** Revisions are dates, so they compare as text. */
function shownRevision(introduction: JsonObject): JsonObject {
  const spoken = String(introduction.protocolVersion);
  return { ...introduction, protocolVersion: spoken < oldestShown ? oldestShown : spoken };
}

function silent(): Failure {
  const fix = "check that it is an MCP server, and how it is to be started";
  return new Failure(`the server did not answer within ${readyMs / 1_000} s`, fix);
}
