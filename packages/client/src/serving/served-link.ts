// The transport that a served SDK instance is connected to: requests of one peer or of all go in, answers come out.

import { isObject, isRequestId, type JsonObject, written } from "@mcpx/protocol";
import { resultOf } from "../calls/calls.ts";
import { mcpRevisions } from "../calls/handshake.ts";
import { Incoming, type Origin, refuse } from "../calls/incoming.ts";
import { sendRequest } from "../calls/request.ts";
import { within } from "../core/pause.ts";
import { type LocalCall, notify, type RoomCore } from "../core/room-core.ts";
import { asError, RoomError } from "../core/room-error.ts";
import { isServed, type ServeOptions } from "./served-methods.ts";

/** An SDK server of either version: `McpServer` or `Server`. */
export interface ServableServer {
  // biome-ignore lint/suspicious/noExplicitAny: each SDK has a transport type of its own
  connect(transport: any): Promise<void>;
  close(): Promise<void>;
}

export class ServedLink {
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs' message types are theirs
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  sessionId?: string | undefined;
  /** The only one served by it; `undefined`: everybody. */
  readonly peer: string | undefined;
  /** What a listing of tools looks like to a peer. */
  show: (result: JsonObject, peer: string) => JsonObject = (result) => result;
  readonly #core: RoomCore;
  readonly #options: ServeOptions;
  readonly #incoming: Incoming;
  readonly #onClosed: (link: ServedLink) => void;
  #isRetired = false;
  readonly #ending = new AbortController();

  /** `onClosed` runs once. */
  constructor(
    core: RoomCore,
    options: ServeOptions,
    peer: string | undefined,
    onClosed: (link: ServedLink) => void,
  ) {
    this.#core = core;
    this.#options = options;
    this.peer = peer;
    this.#onClosed = onClosed;
    this.#incoming = new Incoming(core);
  }

  async start(): Promise<void> {}

  async close(): Promise<void> {
    if (this.#ending.signal.aborted) return;
    this.#ending.abort(new RoomError("closed", "the server is no longer served"));
    this.#onClosed(this);
    this.onclose?.();
  }

  // biome-ignore lint/suspicious/noExplicitAny: the SDKs' message types are theirs
  async send(message: any, options: { relatedRequestId?: unknown } = {}): Promise<void> {
    if (typeof message.method !== "string") {
      await this.#incoming.respond(this.#shown(message)).catch((error: unknown) => this.#fault(error));
      this.#closeIfDone();
    } else if (isRequestId(message.id)) {
      void this.#askBack(message, options.relatedRequestId);
    } else {
      await this.#notify(message, options.relatedRequestId).catch((error: unknown) => this.#fault(error));
    }
  }

  #shown(message: JsonObject): JsonObject {
    const origin = this.#incoming.get(message.id);
    const isListing = origin?.method === "tools/list" && origin.local === undefined;
    if (!isListing || !isObject(message.result)) return message;
    return { ...message, result: this.show(message.result, origin.peer) };
  }

  /** A request of a peer, already found to be served. */
  take(origin: Origin, params: JsonObject | undefined): void {
    if (this.#ending.signal.aborted) {
      refuse(this.#core, origin, "not_served", "The server was closed");
      return;
    }
    const message = this.#incoming.open(origin, params);
    if (message === undefined) refuse(this.#core, origin, "rate_limited", "Too many requests are open");
    else this.#deliver(message, origin);
  }

  cancel(peer: string, params: JsonObject): void {
    const requestId = this.#incoming.find(peer, params.requestId);
    if (requestId === undefined) return;
    this.#deliver({ jsonrpc: "2.0", method: "notifications/cancelled", params: { ...params, requestId } });
    this.#incoming.forget(requestId);
    this.#closeIfDone();
  }

  note(method: string): void {
    this.#deliver({ jsonrpc: "2.0", method });
  }

  /** A request from here, without the room. */
  call(method: string, params: JsonObject, local: LocalCall = {}): Promise<JsonObject> {
    const { signal, onProgress, envelopeId = "" } = local;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (this.#ending.signal.aborted) return Promise.reject(this.#ending.signal.reason);
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const origin: Origin = {
      peer: this.#core.id,
      envelopeId,
      rpcId: 0,
      method,
      progressToken: onProgress && 0,
      fulfils: undefined,
      local: {
        answer: (response) => {
          try {
            resolve(resultOf(response));
          } catch (error) {
            reject(error);
          }
        },
        progress: (news) => onProgress?.(news),
      },
    };
    const message = this.#incoming.open(origin, params);
    const onAbort = () => {
      const cancelled = { requestId: message?.id, reason: String(signal?.reason) };
      this.#deliver({ jsonrpc: "2.0", method: "notifications/cancelled", params: cancelled });
      this.#incoming.forget(message?.id as number);
      reject(signal?.reason);
    };
    if (message === undefined)
      return Promise.reject(new RoomError("too_many_calls", "too many calls are open"));
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#deliver(message, origin);
    return within(promise, this.#ending.signal).finally(() => signal?.removeEventListener("abort", onAbort));
  }

  /** The handshake as the one client that this instance knows. */
  async introduce(): Promise<JsonObject> {
    const result = await this.call("initialize", {
      protocolVersion: mcpRevisions[0],
      capabilities: {},
      clientInfo: this.#core.options.clientInfo,
    });
    this.note("notifications/initialized");
    return result;
  }

  /** Takes nothing new; closes when what is open is answered. */
  retire(): void {
    this.#isRetired = true;
    this.#closeIfDone();
  }

  #closeIfDone(): void {
    if (this.#isRetired && this.#incoming.size === 0) void this.close();
  }

  /** A server asks its client back (sampling, elicitation, roots): the one whose request it is about. */
  async #askBack(message: JsonObject, relatedRequestId: unknown): Promise<void> {
    const origin = this.#incoming.get(relatedRequestId);
    const peer = this.peer ?? origin?.peer;
    const reply = (body: JsonObject) => this.#deliver({ jsonrpc: "2.0", id: message.id, ...body });
    if (peer === undefined || origin?.local !== undefined) {
      return reply({
        error: {
          code: -32601,
          message: "This server cannot ask its callers: serve a factory instead of one instance",
        },
      });
    }
    try {
      const params = isObject(message.params) ? message.params : {};
      const correlation_id = origin?.envelopeId;
      reply({
        result: await sendRequest(this.#core, peer, written(message.method), params, { correlation_id }),
      });
    } catch (error) {
      const { code } = error as { code?: unknown };
      reply({
        error: { code: typeof code === "number" ? code : -32000, message: asError(error).message },
      });
    }
  }

  async #notify({ method, params }: JsonObject, relatedRequestId: unknown): Promise<void> {
    const body = isObject(params) ? params : undefined;
    if (method === "notifications/progress" && body) return this.#incoming.progress(body);
    const origin = this.#incoming.get(relatedRequestId);
    if (origin !== undefined && origin.local === undefined && method === "notifications/message") {
      await notify(this.#core, [origin.peer], method, body, origin.envelopeId);
    } else if (isServed(written(method), this.#options)) {
      // Changed lists concern everybody who was told of them. [X0-6-2]
      await notify(this.#core, this.peer === undefined ? [] : [this.peer], written(method), body);
    }
  }

  /** A request comes with the envelope it was in: the gateway may know more of that. */
  #deliver(message: JsonObject, origin?: Origin): void {
    try {
      this.onmessage?.(message, origin && { envelopeId: origin.envelopeId });
    } catch (error) {
      this.#fault(error);
    }
  }

  #fault(error: unknown): void {
    this.#core.events.emit("error", asError(error));
  }
}
