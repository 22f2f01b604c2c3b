// What both eras have in common: ids, requests in flight and their ends, whatever the server does. To which caller
// other messages than answers belong is decided by the links.
import { isSamePayer, shareOf } from "@mcpx/host";
import { isMcpxError, isObject, type JsonObject, McpxError, numberOf, type Reason } from "@mcpx/protocol";
import { CallTable } from "../mcp/call-table.ts";
import type { Caller } from "../mcp/exchange.ts";
import { RpcError } from "../mcp/rpc-error.ts";
import { HttpRefusal, readFault } from "./http-refusal.ts";
import type { LinkRequest, LinkTaker } from "./link.ts";
import type { LinkLimits } from "./link-limits.ts";
import { isOwn } from "./own-request.ts";
import { Throttle } from "./throttle.ts";
import type { Sending, Wire, WireTaker } from "./wire.ts";

type RequestId = string | number;

/** What a link does with its part of a conversation. */
export interface Listener {
  /** A request or notification of the server; with the request on whose own stream it came. */
  heard(message: JsonObject, on: InFlight | undefined): void;
  /** Its caller wants it no more: the server may be told. */
  cancelled(inFlight: InFlight): void;
}

/** How long a server may take to take note of something. */
const tellMs = 30_000;
/** No real answer is nested deeper. */
const depthMax = 512;
const once = { once: true } as const;
const repeatable = /(?:^|\/)(?:list|read|get|complete|discover|ping)$/;

/** A request that waits for its answer; to the wire, how it is sent. */
export class InFlight implements Sending {
  readonly id: RequestId;
  readonly request: LinkRequest;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly #conversation: Conversation;
  readonly #onAbort = () => this.#conversation.cancel(this);
  readonly #resolve: (result: JsonObject) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    conversation: Conversation,
    id: RequestId,
    request: LinkRequest,
    headers: Readonly<Record<string, string>> | undefined,
    resolve: (result: JsonObject) => void,
    reject: (error: unknown) => void,
  ) {
    this.id = id;
    this.request = request;
    this.headers = headers;
    this.#conversation = conversation;
    this.#resolve = resolve;
    this.#reject = reject;
    request.signal.addEventListener("abort", this.#onAbort, once);
  }

  get signal(): AbortSignal {
    return this.request.signal;
  }

  get isRepeatable(): boolean {
    return repeatable.test(this.request.method);
  }

  take(message: JsonObject): void {
    this.#conversation.take(message, this);
  }

  /** To its caller, unless there is too much of it. */
  notify(method: string, params: JsonObject): void {
    if (this.#conversation.admitsNotice()) this.request.notify(method, params);
  }

  resolve(result: JsonObject): void {
    this.request.signal.removeEventListener("abort", this.#onAbort);
    this.#resolve(result);
  }

  reject(error: unknown): void {
    this.request.signal.removeEventListener("abort", this.#onAbort);
    this.#reject(error);
  }
}

export class Conversation implements WireTaker {
  readonly name: string;
  readonly #taker: LinkTaker;
  readonly #limits: LinkLimits;
  readonly #inFlight = new CallTable<InFlight>();
  /** Notifications and questions: beyond it the wire is paused. Only questions are left out then. */
  readonly #unasked: Throttle;
  /** What belongs to requests. */
  readonly #notices: Throttle;
  readonly #logLines: Throttle;
  readonly #take = (message: JsonObject) => this.take(message, undefined);
  #listener: Listener | undefined;
  #wire: Wire | undefined;
  #why: string | undefined;
  #lastId = 0;

  constructor(name: string, taker: LinkTaker, limits: LinkLimits) {
    this.name = name;
    this.#taker = taker;
    this.#limits = limits;
    this.#logLines = new Throttle(limits.logLineRate, (count) => this.#say(`(${count} lines left out)`));
    this.#unasked = new Throttle(limits.notificationRate, () => {});
    this.#notices = new Throttle(limits.notificationRate, (count) =>
      this.#say(
        `(${count} notifications dropped: no more than ${limits.notificationRate} a second are taken)`,
      ),
    );
  }

  /** Sets the listener for messages of the server. */
  set listener(listener: Listener) {
    this.#listener = listener;
  }

  set wire(wire: Wire) {
    this.#wire = wire;
    void wire.ended.then((why) => this.#over(why));
  }

  get hasStreams(): boolean {
    return this.#wire?.hasStreams === true;
  }

  get isOver(): boolean {
    return this.#why !== undefined;
  }

  /** The oldest that a caller waits for. */
  get oldest(): InFlight | undefined {
    for (const inFlight of this.#inFlight.values()) if (!isOwn(inFlight.request)) return inFlight;
    return undefined;
  }

  /** The only one that a caller waits for. */
  get only(): InFlight | undefined {
    let only: InFlight | undefined;
    for (const inFlight of this.#inFlight.values()) {
      if (isOwn(inFlight.request)) continue;
      if (only !== undefined) return undefined;
      only = inFlight;
    }
    return only;
  }

  find(id: unknown): InFlight | undefined {
    return this.#inFlight.get(id);
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  request(
    id: RequestId,
    request: LinkRequest,
    params: JsonObject,
    headers?: Readonly<Record<string, string>>,
  ): Promise<JsonObject> {
    const wire = this.#wire;
    if (request.signal.aborted) return Promise.reject(request.signal.reason);
    if (wire === undefined || this.#why !== undefined) {
      return Promise.reject(this.error("server_unreachable", this.#why ?? "it is not open"));
    }
    const obstacle = this.#obstacleTo(request);
    if (obstacle !== undefined) return Promise.reject(obstacle);
    return new Promise((resolve, reject) => {
      const inFlight = new InFlight(this, id, request, headers, resolve, reject);
      this.#inFlight.set(id, inFlight);
      wire.send({ jsonrpc: "2.0", id, method: request.method, params }, inFlight).then(
        () => wire.hasStreams && this.#fail(inFlight, "bad_server_answer", "its answer is missing"),
        (error) => this.#settle(inFlight)?.reject(this.#named(error)),
      );
    });
  }

  /** Of one principal's there are no more in flight than are left for others. */
  #obstacleTo({ caller }: LinkRequest): McpxError | undefined {
    const { inFlightMax } = this.#limits;
    const all = this.#inFlight.size;
    // Then nobody has more.
    if (2 * all < inFlightMax) return undefined;
    if (all >= inFlightMax) return this.error("server_unreachable", "it has too many requests to answer");
    const own = caller === undefined ? 0 : this.#countOf(caller);
    if (own < shareOf(inFlightMax, all - own)) return undefined;
    const suggestion = "Wait until some of them are answered";
    return this.error("rate_limited", `it has ${own} requests of yours to answer`, { suggestion });
  }

  #countOf({ principal }: Caller): number {
    let count = 0;
    for (const { request } of this.#inFlight.values()) {
      if (request.caller !== undefined && isSamePayer(request.caller.principal, principal)) count += 1;
    }
    return count;
  }

  reach(why: string | undefined): void {
    this.#taker.reach?.(why);
  }

  /** A notification or an answer. */
  tell(message: JsonObject): void {
    if (this.#wire === undefined || this.#why !== undefined) return;
    const told = { jsonrpc: "2.0", ...message };
    const sending = { take: this.#take, signal: AbortSignal.timeout(tellMs) };
    this.#wire.send(told, sending).catch((error: unknown) => {
      if (this.#why === undefined) this.logLine(`(not sent: ${textOf(error)})`);
    });
  }

  cancel(inFlight: InFlight): void {
    if (this.#settle(inFlight) === undefined) return;
    inFlight.reject(inFlight.signal.reason);
    this.#listener?.cancelled(inFlight);
  }

  message(message: JsonObject): void {
    this.take(message, undefined);
  }

  take(message: JsonObject, on: InFlight | undefined): void {
    if (this.#why !== undefined) return;
    try {
      if (message.method === undefined) this.#answer(message, on);
      else if (typeof message.method !== "string") this.logLine("(dropped a message that is not JSON-RPC)");
      else this.#hear(message, on);
    } catch (error) {
      // Whatever a server sends must not end more than what it was for.
      this.logLine(`(a message was dropped: ${textOf(error)})`);
    }
  }

  /** Whether there is room for one more notification that belongs to a request. */
  admitsNotice(): boolean {
    return this.#notices.admits();
  }

  unreadable(id: RequestId, detail: string): void {
    const inFlight = this.#inFlight.get(id);
    if (inFlight !== undefined) this.#fail(inFlight, "bad_server_answer", detail);
  }

  logLine(line: string): void {
    if (this.#logLines.admits()) this.#say(line);
  }

  error(reason: Reason, detail: string, options?: { suggestion?: string; cause?: unknown }): McpxError {
    return new McpxError(reason, `${this.name}: ${detail}`, options);
  }

  async close(): Promise<void> {
    this.#over("it was closed");
    await this.#wire?.close();
  }

  /** Which of its notifications are too many is for the tree to say; a question too many is left out here. */
  #hear(message: JsonObject, on: InFlight | undefined): void {
    const isCalm = this.#unasked.admits();
    if (!isCalm) this.#wire?.pause?.();
    if (isCalm || message.id === undefined) this.#listener?.heard(message, on);
    else
      this.logLine(
        `(a question was dropped: no more than ${this.#limits.notificationRate} a second are taken)`,
      );
  }

  #answer(message: JsonObject, on: InFlight | undefined): void {
    const id = typeof message.id === "object" ? (numberOf(message.id) ?? message.id) : message.id;
    let inFlight = this.#inFlight.get(id);
    // An error may have no id where the request could not be read; on a stream of its own it is clear whose it is.
    if (inFlight === undefined && (id === null || id === undefined) && isObject(message.error)) inFlight = on;
    if (inFlight === undefined || this.#settle(inFlight) === undefined) {
      if (!this.#unasked.admits()) this.#wire?.pause?.();
      this.logLine(`(an answer nobody waits for was dropped: id ${String(JSON.stringify(id)).slice(0, 80)})`);
      return;
    }
    const { result } = message;
    if (isObject(result) && message.error === undefined) {
      // Reading takes any depth; writing it again does not. Of lists, only what is too deep is left out.
      if (!inFlight.request.method.endsWith("/list") && isDeeperThan(result, depthMax)) {
        inFlight.reject(this.error("bad_server_answer", "its answer is nested too deeply"));
      } else inFlight.resolve(result);
      return;
    }
    const fault = readFault(message.error);
    if (fault !== undefined && result === undefined) inFlight.reject(new RpcError(fault));
    else inFlight.reject(this.error("bad_server_answer", "its answer has neither a result nor an error"));
  }

  #fail(inFlight: InFlight, reason: Reason, detail: string): void {
    this.#settle(inFlight)?.reject(this.error(reason, detail));
  }

  /** Takes it out of flight; `undefined` where it has been already. */
  #settle(inFlight: InFlight): InFlight | undefined {
    return this.#inFlight.delete(inFlight.id) ? inFlight : undefined;
  }

  #over(why: string): void {
    if (this.#why !== undefined) return;
    this.#why = why;
    for (const inFlight of this.#inFlight.values()) this.#fail(inFlight, "server_lost", why);
    this.#notices.flush();
    this.#unasked.flush();
    this.#logLines.flush();
  }

  /** A wire's fault, with the server it is of. */
  #named(error: unknown): unknown {
    if (error instanceof HttpRefusal) {
      if (error.isAnswer && error.fault !== undefined) return new RpcError(error.fault);
      const reason = error.isForbidden ? "server_unauthorised" : "server_unreachable";
      return this.error(reason, error.message, { cause: error });
    }
    if (!isMcpxError(error)) return error;
    const { code, detail, suggestion, cause } = error;
    return this.error(code, detail, { suggestion, cause });
  }

  #say(line: string): void {
    try {
      this.#taker.logLine(line);
    } catch {
      // A log that fails cannot be logged.
    }
  }
}

function isDeeperThan(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (depth === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, depth - 1));
  for (const key in value) if (isDeeperThan((value as JsonObject)[key], depth - 1)) return true;
  return false;
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
