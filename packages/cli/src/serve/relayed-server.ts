// An MCP server of elsewhere as `room.serve` wants one: messages are passed on as they are, in both directions. The
// server is introduced once in each of its lives, by us; peers are answered from what it said then.
import { setTimeout as wait } from "node:timers/promises";
import { defaultLimits, isObject, isRequestId, type JsonObject } from "@mcpx/protocol";
import { Failure } from "../failure.ts";
import { version } from "../version.ts";
import type { OpenServer, ServerSide } from "./server-side.ts";

export interface RelayNews {
  remark(line: string): void;
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
const firstDelayMs = 500;
const delayMsMax = 30_000;
/** Having lived this long it was a good one, and the next delay is the first again. */
const goodMs = 30_000;
/** Rooms speak no older revision; what tools need of it has not changed since. */
const oldestShown = "2025-06-18";
const initializeId = "mcpx:initialize";
/** What the envelope around an answer may take. */
const envelopeBytes = 2_048;

export class RelayedServer {
  readonly #open: OpenServer;
  readonly #news: RelayNews;
  readonly #closing = new AbortController();
  /** Requests of the room that the server has not answered. */
  readonly #asked = new Set<string | number>();
  #room: RoomSide | undefined;
  #side: ServerSide | undefined;
  #introduction: JsonObject = {};
  #introduced: PromiseWithResolvers<JsonObject> | undefined;
  #living: Promise<void> | undefined;

  constructor(open: OpenServer, news: RelayNews) {
    this.#open = open;
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
      const side = await this.#begin();
      this.#living = this.#keepAlive(side);
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
    await this.#side?.close();
    await this.#living;
  }

  async #begin(): Promise<ServerSide> {
    const introduced = Promise.withResolvers<JsonObject>();
    introduced.promise.catch(() => {});
    this.#introduced = introduced;
    const side = await this.#open({
      message: (message) => this.#fromServer(message),
      remark: (line) => this.#news.remark(line),
    });
    this.#side = side;
    void side.ended.then((why) =>
      introduced.reject(new Failure(`the server ended before it was ready (${why})`)),
    );
    const timer = setTimeout(() => introduced.reject(silent()), readyMs);
    side.send({
      jsonrpc: "2.0",
      id: initializeId,
      method: "initialize",
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "mcpx", version },
      },
    });
    try {
      if (this.#closing.signal.aborted) throw new Failure("interrupted");
      this.#introduction = shownRevision(await introduced.promise);
      side.send({ jsonrpc: "2.0", method: "notifications/initialized" });
      return side;
    } catch (error) {
      await side.close();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#introduced = undefined;
    }
  }

  async #keepAlive(first: ServerSide): Promise<void> {
    let side: ServerSide | undefined = first;
    let failures = 0;
    let why = "";
    const { signal } = this.#closing;
    while (!signal.aborted) {
      if (side !== undefined) {
        const beganAtMs = performance.now();
        why = await side.ended;
        this.#side = undefined;
        if (performance.now() - beganAtMs > goodMs) failures = 0;
        this.#failAsked(why);
        // A session of HTTP that is over has let go of nothing yet.
        await side.close();
      }
      if (signal.aborted) return;
      const retryMs = Math.min(delayMsMax, firstDelayMs * 2 ** Math.min(failures, 10));
      failures += 1;
      this.#news.lost(why, retryMs);
      await wait(retryMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
      side = await this.#begin().catch((error: unknown) => {
        why = error instanceof Error ? error.message : String(error);
        return undefined;
      });
      if (side === undefined) continue;
      this.#news.back();
      // It may be another version by now.
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
    const side = this.#introduced === undefined ? this.#side : undefined;
    if (side === undefined) {
      if (isRequest) this.#fail(id, "The server is being started again; try again soon", "server_restarting");
    } else if (!side.send(message)) {
      if (isRequest) this.#fail(id, "The server does not keep up; try again later", "server_busy");
    } else if (isRequest) {
      this.#asked.add(id);
    }
  }

  #fromServer(message: JsonObject): void {
    const { id, method } = message;
    if (method === "ping" && isRequestId(id)) {
      this.#side?.send({ jsonrpc: "2.0", id, result: {} });
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
    this.#room?.send(message).catch((error: unknown) => this.#news.remark(String(error)));
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
