// An MCP transport between here and one peer, as the official SDK's `Client` and `Server` of both versions want it.
// Ids are changed on the way: one participant is one JSON-RPC party, however many clients it holds.
import { isObject, isRequestId, type JsonObject } from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";
import { isNotInitialized } from "../core/refusals.ts";
import { notify, publish, type Receiver, type RoomCore } from "../core/room-core.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { asError, RoomError } from "../core/room-error.ts";
import type { Call } from "./calls.ts";
import { Incoming, originOf, refuse } from "./incoming.ts";
import { notePublished, sendRequest, withProgressToken } from "./request.ts";

/** What the SDK says of a message it sends; other members are ignored. */
interface SendOptions {
  relatedRequestId?: string | number | undefined;
}

/** What only a client answers; everything else is for servers. */
const clientMethods = new Set(["sampling/createMessage", "elicitation/create", "roots/list"]);

interface Outgoing extends Call {
  message: JsonObject;
  hasBeenRepeated: boolean;
  hasProgressed: boolean;
}

/** Structurally the SDK's `Transport`: hand it to `client.connect` or `server.connect`. */
export class RoomTransport implements Receiver {
  // biome-ignore lint/suspicious/noExplicitAny: the SDKs' message types are theirs
  onmessage?: ((message: any, extra?: any) => void) | undefined;
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  sessionId?: string | undefined;
  /** The participant at the other end. */
  readonly peer: string;
  readonly #core: RoomCore;
  readonly #incoming: Incoming;
  readonly #outgoing = new Map<string | number, Outgoing>();
  /** Set by a client's first message; a server sends none. */
  #introduction: JsonObject | undefined;
  #isOpen = false;

  constructor(core: RoomCore, peer: string) {
    this.#core = core;
    this.peer = peer;
    this.#incoming = new Incoming(core);
  }

  async start(): Promise<void> {
    const { signal } = this.#core.connection;
    if (signal.aborted) throw signal.reason;
    if (this.#isOpen) throw new RoomError("bad_option", "this transport was started before");
    this.#isOpen = true;
    this.#core.receivers.add(this);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the SDKs' message types are theirs
  async send(message: any, options: SendOptions = {}): Promise<void> {
    if (!this.#isOpen) throw new RoomError("closed", "this transport is not open");
    if (typeof message.method !== "string") return this.#incoming.respond(message);
    if (isRequestId(message.id)) this.#request(message, options);
    else await this.#notify(message, options);
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#core.receivers.delete(this);
    for (const call of this.#outgoing.values()) this.#core.calls.delete(call);
    this.#outgoing.clear();
    this.onclose?.();
  }

  /** A request of the peer: for a server, whatever it is; for a client, only what clients answer. */
  request(envelope: RoomEnvelope): boolean {
    if (envelope.from !== this.peer) return false;
    const origin = originOf(this.#core, envelope);
    if (origin === undefined) return false;
    const isRelated = [...this.#outgoing.values()].some(
      (call) => call.envelopeId === envelope.correlation_id,
    );
    if (this.#introduction !== undefined && !isRelated && !clientMethods.has(origin.method)) return false;
    const { params } = envelope.payload;
    const message = this.#incoming.open(origin, isObject(params) ? params : undefined);
    if (message === undefined) refuse(this.#core, origin, "rate_limited", "Too many requests are open");
    else this.#deliver(message);
    return true;
  }

  notification({ from, payload }: RoomEnvelope): void {
    if (from !== this.peer || payload.method === "notifications/progress") return;
    const params = isObject(payload.params) ? payload.params : undefined;
    if (payload.method !== "notifications/cancelled") {
      this.#deliver({ ...payload });
      return;
    }
    const requestId = this.#incoming.find(this.peer, params?.requestId);
    if (requestId === undefined) return;
    this.#deliver({ ...payload, params: { ...params, requestId } });
    this.#incoming.forget(requestId);
  }

  ended(peer: string | undefined): void {
    if (peer === undefined || peer === this.peer) void this.close();
  }

  /** A request from here. Its failures are answers too, as JSON-RPC has them. */
  #request(message: JsonObject, { relatedRequestId }: SendOptions): void {
    if (message.method === "initialize") this.#introduction = message;
    const id = message.id as string | number;
    const rpcId = this.#core.calls.nextRpcId();
    const params = isObject(message.params) ? message.params : undefined;
    const token = isObject(params?._meta) ? params._meta.progressToken : undefined;
    const call: Outgoing = {
      peer: this.peer,
      envelopeId: newId(),
      rpcId,
      isPublished: false,
      message,
      hasBeenRepeated: false,
      hasProgressed: false,
      answer: (payload) => void this.#answered(call, { ...payload, id }),
      fail: (error) => void this.#answered(call, { jsonrpc: "2.0", id, error: asJsonRpcError(error) }),
      progress: (news) => {
        call.hasProgressed = true;
        const shown = { ...news, progressToken: token };
        this.#deliver({ jsonrpc: "2.0", method: "notifications/progress", params: shown });
      },
    };
    this.#outgoing.set(id, call);
    try {
      this.#core.calls.add(call);
    } catch (error) {
      call.fail(asError(error));
      return;
    }
    const shown = params && token !== undefined ? withProgressToken(params, rpcId) : params;
    const payload = { ...message, id: rpcId, ...(shown === undefined ? {} : { params: shown }) };
    const correlation_id = this.#incoming.get(relatedRequestId)?.envelopeId;
    publish(this.#core, { kind: "mcp", to: [this.peer], id: call.envelopeId, correlation_id, payload }).then(
      (receipt) => notePublished(this.#core, call, receipt),
      (error: unknown) => {
        this.#core.calls.delete(call);
        call.fail(asError(error));
      },
    );
  }

  async #answered(call: Outgoing, response: JsonObject): Promise<void> {
    const { message } = call;
    const id = message.id as string | number;
    if (!this.#isOpen || this.#outgoing.get(id) !== call) return;
    if (!call.hasBeenRepeated && message !== this.#introduction && isNotInitialized(reasonOf(response))) {
      // The server behind the peer is another one than we shook hands with. It has done nothing: ask again.
      const isIntroduced = await this.#introduceAgain();
      // Cancelled meanwhile: nobody waits for it.
      if (this.#outgoing.get(id) !== call) return;
      if (isIntroduced) {
        this.#request(message, {});
        const again = this.#outgoing.get(id);
        if (again !== undefined) again.hasBeenRepeated = true;
        return;
      }
    }
    // The SDKs look at notifications a turn later than at responses: an answer in the same turn would hide them.
    if (call.hasProgressed) await new Promise((resolve) => setTimeout(resolve, 0));
    this.#outgoing.delete(id);
    this.#deliver(response);
  }

  async #introduceAgain(): Promise<boolean> {
    if (this.#introduction === undefined) return false;
    try {
      await sendRequest(this.#core, this.peer, "initialize", this.#introduction.params as JsonObject);
      notify(this.#core, [this.peer], "notifications/initialized", undefined).catch(() => {});
      return true;
    } catch (error) {
      this.onerror?.(asError(error));
      return false;
    }
  }

  async #notify(message: JsonObject, { relatedRequestId }: SendOptions): Promise<void> {
    const method = message.method as string;
    const params = isObject(message.params) ? message.params : undefined;
    if (method === "notifications/progress" && params) return this.#incoming.progress(params);
    const related = this.#incoming.get(relatedRequestId)?.envelopeId;
    if (method !== "notifications/cancelled") {
      await notify(this.#core, [this.peer], method, params, related);
      return;
    }
    const id = params?.requestId as string | number;
    const call = this.#outgoing.get(id);
    if (call === undefined) return;
    this.#outgoing.delete(id);
    this.#core.calls.delete(call);
    const cancelled = new RoomError("aborted", "the request was cancelled");
    if (this.#core.connection.outbox.takeBack(call.envelopeId, cancelled)) return;
    await notify(this.#core, [this.peer], method, { ...params, requestId: call.rpcId }, call.envelopeId);
  }

  #deliver(message: JsonObject): void {
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(asError(error));
    }
  }
}

function reasonOf({ error }: JsonObject): unknown {
  return isObject(error) && isObject(error.data) ? error.data.reason : undefined;
}

function asJsonRpcError(error: Error): JsonObject {
  const { code, data, reason } = error as { code?: unknown; data?: unknown; reason?: unknown };
  return {
    code: typeof code === "number" ? code : -32000,
    message: error.message,
    data: data ?? { reason: reason ?? "failed" },
  };
}
