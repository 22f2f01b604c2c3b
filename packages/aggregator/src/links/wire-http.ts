// A server spoken to over streamable HTTP: each message is a POST, answered with JSON or a stream of events. Sessions,
// the stream of what is said unasked and the resumption of streams are there once a legacy server has been initialized.
import { setTimeout as wait } from "node:timers/promises";
import { backoffMs, isMcpxError, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { rpcCodes } from "../mcp/rpc-error.ts";
import { type EventBytes, readEventBytes } from "./event-reader.ts";
import type { HttpAnswer } from "./http-attempt.ts";
import { type HttpAddress, HttpCaller } from "./http-caller.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { defaultLinkLimits, type LinkLimits } from "./link-limits.ts";
import { commonReader, isEventStream, isJson, readEvents, readText, takeMessages } from "./read-response.ts";
import type { Sending, Wire, WireTaker } from "./wire.ts";

const contentHeaders = ["content-type", "application/json", "accept", "application/json, text/event-stream"];
const retryMsDefault = 1_000;
const retryMsMin = 50;
const retryMsMax = 60_000;
/** Tries in a row to get a stream back that broke before its answer. */
const triesMax = 5;
/** How long a stream may stay open after its answer. */
const lingerMs = 1_000;
const farewellMs = 2_000;
/** A server that cannot be reached so many times in a row is lost. */
const lostAfter = 2;
const logLineCharsMax = 400;
/** How long a call waits for the stream on which its server may ask; some servers have none, and do not say so. */
const openingMs = 2_000;
/** In the middle of these a server may ask. */
const asking = new Set(["tools/call", "prompts/get", "resources/read"]);
const sessionOver = "its session has ended";

/** Throws `server_unreachable` where the address is none. Nothing is sent before the first message. */
export function openHttpWire(address: HttpAddress, taker: WireTaker, limits: Partial<LinkLimits> = {}): Wire {
  return new HttpWire(new HttpCaller(address), taker, limits.messageBytesMax);
}

/** Sends one message and handles its answer. */
interface Posting {
  readonly message: JsonObject;
  readonly sending: Sending | undefined;
  readonly isRequest: boolean;
  isAnswered: boolean;
  resolve(): void;
  reject(error: unknown): void;
}

class HttpWire implements Wire {
  readonly hasStreams = true;
  readonly ended: Promise<string>;
  readonly #resolveEnded: (why: string) => void;
  readonly #caller: HttpCaller;
  readonly #taker: WireTaker;
  readonly #bytesMax: number;
  readonly #closing = new AbortController();
  #why: string | undefined;
  #session: string | undefined;
  /** Set by the answer to `initialize`: from then on this is a legacy conversation. */
  #revision: string | undefined;
  #postHeaders: readonly string[] = contentHeaders;
  #isListening = false;
  /** Until the stream of what is said unasked is there, or refused: a question before that would be lost. */
  #opening: PromiseWithResolvers<void> | undefined;
  /** How many times in a row its stream could not be opened because nobody was there. */
  #absences = 0;

  constructor(caller: HttpCaller, taker: WireTaker, bytesMax: number = defaultLinkLimits.messageBytesMax) {
    const { promise, resolve } = Promise.withResolvers<string>();
    this.#caller = caller;
    this.#taker = taker;
    this.#bytesMax = bytesMax;
    this.ended = promise;
    this.#resolveEnded = resolve;
  }

  get hasSession(): boolean {
    return this.#session !== undefined;
  }

  send(message: JsonObject, sending?: Sending): Promise<void> {
    const { method } = message;
    const isRequest = typeof method === "string" && message.id !== undefined;
    if (method === "notifications/initialized") this.#open();
    return new Promise((resolve, reject) => {
      const post = () => this.#post({ message, sending, isRequest, isAnswered: false, resolve, reject });
      if (this.#opening === undefined || !isRequest || !asking.has(method)) post();
      else void this.#opening.promise.then(post);
    });
  }

  #open(): void {
    this.#opening = Promise.withResolvers();
    setTimeout(() => this.#opened(), openingMs).unref();
  }

  #opened(): void {
    this.#opening?.resolve();
    this.#opening = undefined;
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const session = this.#session;
    this.#end("closed");
    if (session === undefined) return;
    const signal = AbortSignal.timeout(farewellMs);
    await new Promise<void>((resolve) => {
      const headers = this.#sessionHeaders();
      const taken = (answer: HttpAnswer) => readText(answer, this.#bytesMax, () => resolve());
      this.#caller.call({ method: "DELETE", headers, signal, taken, failed: () => resolve() });
    });
    this.#caller.stop();
  }

  #end(why: string): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    this.#opened();
    this.#closing.abort();
    this.#caller.stop();
    this.#resolveEnded(why);
  }

  #post(posting: Posting): void {
    const { message, sending } = posting;
    if (this.#why !== undefined) {
      posting.reject(new McpxError("server_unreachable", this.#why));
      return;
    }
    let headers = this.#postHeaders;
    if (sending?.headers !== undefined) {
      const more = [...headers];
      for (const name in sending.headers) more.push(name, sending.headers[name] as string);
      headers = more;
    }
    this.#caller.call({
      method: "POST",
      headers,
      body: JSON.stringify(message),
      signal: sending?.signal,
      isRepeatable: sending?.isRepeatable,
      taken: (answer) => this.#taken(posting, answer),
      failed: (error) => {
        if (message.method === "notifications/initialized") this.#opened();
        const isOver = this.#isSessionOver(error);
        posting.reject(isOver ? new McpxError("server_unreachable", sessionOver) : error);
        if (isOver) this.#end(sessionOver);
      },
    });
  }

  #taken(posting: Posting, answer: HttpAnswer): void {
    const { message, isRequest } = posting;
    if (message.method === "initialize") this.#adoptSession(answer.headers["mcp-session-id"]);
    if (isEventStream(answer)) this.#stream(posting, answer);
    else if (isJson(answer) && isRequest) {
      readText(answer, this.#bytesMax, (text, fault) => {
        if (text === undefined) posting.reject(fault);
        else if (takeMessages(text, (taken) => this.#deliver(posting, taken))) posting.resolve();
        else posting.reject(new McpxError("bad_server_answer", "its answer is not JSON"));
      });
    } else {
      readText(answer, this.#bytesMax, () => posting.resolve());
      if (message.method === "notifications/initialized") void this.#listen();
    }
  }

  #stream(posting: Posting, answer: HttpAnswer): void {
    let linger: NodeJS.Timeout | undefined;
    const reader = this.#readerFor(posting, () => {
      linger ??= setTimeout(() => answer.destroy(), lingerMs);
    });
    readEvents(answer, reader, (fault) => {
      clearTimeout(linger);
      if (posting.isAnswered || !posting.isRequest) posting.resolve();
      else if (fault !== undefined) posting.reject(fault);
      else void this.#resume(posting, reader);
    });
  }

  #readerFor(posting: Posting, answered: () => void): EventBytes {
    return readEventBytes(this.#bytesMax, (data, type) => {
      if (type !== "message") return;
      if (!takeMessages(data, (message) => this.#deliver(posting, message))) this.#garbage(data);
      if (posting.isAnswered) answered();
    });
  }

  #deliver(posting: Posting, message: JsonObject): void {
    const { message: asked, sending } = posting;
    if (message.method === undefined && message.id === asked.id) {
      posting.isAnswered = true;
      if (asked.method === "initialize" && isObject(message.result)) {
        this.#adoptRevision(message.result.protocolVersion);
      }
    }
    if (sending === undefined) this.#taker.message(message);
    else sending.take(message);
  }

  /** A legacy server may end a stream whenever it likes, and give the rest to a client that comes back for it. */
  async #resume(posting: Posting, broken: EventBytes): Promise<void> {
    const stopped = this.#closing.signal;
    const asked = posting.sending?.signal;
    if (asked?.aborted) {
      posting.reject(asked.reason);
      return;
    }
    const signal = asked === undefined ? stopped : AbortSignal.any([asked, stopped]);
    let { lastId, retryMs } = broken;
    let tries = 0;
    while (this.#revision !== undefined && lastId !== undefined && tries < triesMax && !signal.aborted) {
      await wait(delayMs(retryMs, tries), undefined, { signal }).catch(() => {});
      const done = new AbortController();
      const reader = this.#readerFor(posting, () => done.abort());
      tries += 1;
      try {
        await this.#get(reader, AbortSignal.any([signal, done.signal]), lastId);
        tries = 0;
      } catch (error) {
        if (error instanceof HttpRefusal && error.status < 500) break;
        if (error instanceof McpxError && error.code === "bad_server_answer") {
          posting.reject(error);
          return;
        }
      }
      if (posting.isAnswered) {
        posting.resolve();
        return;
      }
      lastId = reader.lastId ?? lastId;
      retryMs = reader.retryMs ?? retryMs;
    }
    posting.reject(
      asked?.aborted
        ? asked.reason
        : new McpxError("server_lost", this.#why ?? "its stream ended before the answer"),
    );
  }

  /** What it says unasked, such as that its tools have changed. Many servers have no such stream. */
  async #listen(): Promise<void> {
    if (this.#isListening) return;
    this.#isListening = true;
    const { signal } = this.#closing;
    let lastId: string | undefined;
    let retryMs: number | undefined;
    let failures = 0;
    while (!signal.aborted) {
      const reader = commonReader(this.#bytesMax, this.#taker);
      try {
        await this.#get(reader, signal, lastId);
        failures = 0;
      } catch (error) {
        this.#opened();
        if (error instanceof HttpRefusal && error.status < 500) {
          if (this.#isSessionOver(error)) this.#end(sessionOver);
          return;
        }
        this.#absent(error);
      }
      lastId = reader.lastId ?? lastId;
      retryMs = reader.retryMs ?? retryMs;
      await wait(delayMs(retryMs, failures), undefined, { signal }).catch(() => {});
      failures += 1;
    }
  }

  #absent(error: unknown): void {
    if (!isMcpxError(error) || error.code !== "server_unreachable") return;
    this.#absences += 1;
    if (this.#absences === lostAfter) this.#taker.reach?.(error.detail);
  }

  #present(): void {
    if (this.#absences >= lostAfter) this.#taker.reach?.(undefined);
    this.#absences = 0;
  }

  /** Resolves when the stream is over, however it ended. */
  #get(reader: EventBytes, signal: AbortSignal, lastId: string | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = ["accept", "text/event-stream", ...this.#sessionHeaders()];
      if (lastId !== undefined) headers.push("last-event-id", lastId);
      this.#caller.call({
        method: "GET",
        headers,
        signal,
        failed: (error) => (signal.aborted ? resolve() : reject(error)),
        taken: (answer) => {
          if (isEventStream(answer)) {
            this.#opened();
            this.#present();
            readEvents(answer, reader, (f) => (f ? reject(f) : resolve()));
          } else {
            answer.destroy();
            reject(new HttpRefusal(406, undefined));
          }
        },
      });
    });
  }

  /** The caller may ask again in a new session. */
  #isSessionOver(error: unknown): boolean {
    if (!(error instanceof HttpRefusal) || this.#session === undefined) return false;
    const { status, fault } = error;
    if (status === 404) return fault?.code !== rpcCodes.methodNotFound;
    // COMPAT: servers made after an early example answer so when they have forgotten the session.
    return status === 400 && fault?.code === -32000 && /session/i.test(fault.message);
  }

  #adoptSession(session: string | string[] | undefined): void {
    if (typeof session !== "string" || !/^[\x21-\x7e]{1,1024}$/.test(session)) return;
    this.#session = session;
    this.#postHeaders = [...contentHeaders, ...this.#sessionHeaders()];
  }

  #adoptRevision(revision: unknown): void {
    if (typeof revision !== "string" || !/^[\w.-]{1,32}$/.test(revision)) return;
    this.#revision = revision;
    this.#postHeaders = [...contentHeaders, ...this.#sessionHeaders()];
  }

  #sessionHeaders(): string[] {
    const headers: string[] = [];
    if (this.#session !== undefined) headers.push("mcp-session-id", this.#session);
    if (this.#revision !== undefined) headers.push("mcp-protocol-version", this.#revision);
    return headers;
  }

  #garbage(data: string): void {
    this.#taker.logLine(`(no JSON-RPC message: ${data.slice(0, logLineCharsMax)})`);
  }
}

/** What the server asked for; longer and longer where it does not work. */
function delayMs(wanted: number | undefined, failures: number): number {
  const minMs = Math.max(wanted ?? retryMsDefault, retryMsMin);
  return backoffMs(Math.min(failures, 6), { minMs, maxMs: retryMsMax });
}
