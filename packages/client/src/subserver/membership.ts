// One connection to an aggregator, from its first message to its last: registered, kept alive, served, left.
import {
  gatesAheadMethod,
  isRequestId,
  type JsonObject,
  registrationMethods as methods,
  type RegistrationAnswer,
  roomMethods,
} from "@mcpx/protocol";
import { pause } from "../core/pause.ts";
import { RoomError } from "../core/room-error.ts";
import type { Channel, ChannelTaker } from "./channel.ts";
import type { Lease } from "./lease.ts";
import { OwnRequests } from "./own-requests.ts";
import { readAnswer, readRefused } from "./read-answer.ts";
import { asRoomError } from "./refusal.ts";
import { ServedChannel } from "./served-channel.ts";

export interface MembershipOptions {
  /** Of `mcpax/register`. */
  params: JsonObject;
  lease: Lease;
  open(first: JsonObject, taker: ChannelTaker): Channel;
  /** Connects the server to it. */
  serve(link: ServedChannel): Promise<void>;
  /** The server was closed by somebody else than us. */
  serverClosed(): void;
}

const registerMs = 10_000;
const updateMs = 10_000;
const deregisterMs = 2_000;
const releaseMs = 2_000;
/** Early enough to be heard within the interval. */
const heartbeatShare = 0.8;
/** For the server, as MCP's own methods are: its gates may be meant. [AX-11.3-8] */
const gateMethods: readonly string[] = [roomMethods.confirmGate, gatesAheadMethod];

export class Membership {
  /** Resolves with why it ended. */
  readonly ended: Promise<RoomError>;
  readonly #options: MembershipOptions;
  readonly #ended = Promise.withResolvers<RoomError>();
  readonly #requests = new OwnRequests();
  readonly #link: ServedChannel;
  readonly #channel: Channel;
  readonly #registering: Promise<JsonObject>;
  #answer: RegistrationAnswer | undefined;
  /** The aggregator has taken us in after this. */
  #notTakenAtMs = performance.now();
  #isOver = false;
  #beat: ReturnType<typeof setInterval> | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.ended = this.#ended.promise;
    this.#link = new ServedChannel(
      (message) => this.#channel.send(message),
      () => {
        if (!this.#isOver) options.serverClosed();
      },
    );
    const { message, answer } = this.#requests.create(methods.register, options.params, registerMs);
    this.#registering = answer;
    const taker: ChannelTaker = {
      message: (heard) => this.#hear(heard),
      ended: (error) => this.end(error),
    };
    try {
      this.#channel = options.open(message, taker);
    } catch (thrown) {
      const error = asRoomError(thrown);
      this.#requests.fail(error);
      throw error;
    }
  }

  /** Resolves when the server is served; rejects with why it is not, and is over then. */
  async register(): Promise<RegistrationAnswer> {
    try {
      const answer = readAnswer(await this.#registering);
      this.#answer = answer;
      this.#options.lease.begin(answer, this.#notTakenAtMs);
      this.#keepAlive(answer);
      await this.#options.serve(this.#link);
      if (this.#isOver) throw await this.ended;
      return answer;
    } catch (thrown) {
      const error = asRoomError(thrown);
      await this.leave(error);
      throw error;
    }
  }

  /** [AX-5.3-3] */
  async update(subtree: JsonObject): Promise<readonly string[]> {
    return readRefused(await this.#ask(methods.update, updateMs, subtree));
  }

  /** Tells the aggregator, and waits until it has let go. [AX-6.3-4] */
  async leave(error: RoomError): Promise<void> {
    if (this.#answer !== undefined && !this.#isOver) {
      try {
        await this.#ask(methods.deregister, deregisterMs);
        this.#options.lease.end();
      } catch {
        // It finds out by itself: the connection ends.
      }
    }
    this.end(error);
    const released = new AbortController();
    void this.#channel.released.then(() => released.abort());
    await pause(releaseMs, released.signal);
  }

  /** At once: what comes later over this connection is not served. */
  end(error: RoomError): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearInterval(this.#beat);
    clearTimeout(this.#watch);
    void this.#link.close();
    this.#options.lease.loseConnection();
    this.#requests.fail(error);
    this.#channel.end();
    this.#ended.resolve(error);
  }

  #hear(message: JsonObject): void {
    const { id, method } = message;
    if (typeof method !== "string") {
      if (!this.#requests.take(message)) this.#deliver(message);
    } else if (method.startsWith("mcpax/") && !gateMethods.includes(method)) {
      if (isRequestId(id)) this.#reply(id, method);
    } else this.#deliver(message);
  }

  /** Who was away for longer than the lease, and is told so by nobody, must not act on what has waited meanwhile. */
  #deliver(message: JsonObject): void {
    if (this.#answer !== undefined && this.#options.lease.leftMs(performance.now()) === 0) {
      this.end(silent());
    } else if (!this.#link.deliver(message)) {
      this.end(new RoomError("bad_answer", "the aggregator said too much before the server was ready"));
    }
  }

  /** [AX-13.4-2] */
  #reply(id: string | number, method: string): void {
    if (this.#answer === undefined) this.#notTakenAtMs = performance.now();
    const body =
      method === methods.parent
        ? { result: { parent_id: this.#options.lease.parentId(performance.now()) } }
        : { error: { code: -32601, message: `Method not found: ${method.slice(0, 64)}` } };
    // An aggregator that gets no answer goes on without.
    this.#channel.send({ jsonrpc: "2.0", id, ...body }).catch(() => {});
  }

  /** [AX-6.3-3] */
  #keepAlive({ heartbeat_interval_ms, lease_ms }: RegistrationAnswer): void {
    if (heartbeat_interval_ms === 0 || this.#isOver) return;
    const { lease } = this.#options;
    const watch = () => {
      clearTimeout(this.#watch);
      this.#watch = setTimeout(() => this.end(silent()), lease.leftMs(performance.now()));
    };
    const beat = async () => {
      const sentAtMs = performance.now();
      try {
        await this.#ask(methods.heartbeat, lease_ms);
        if (this.#isOver) return;
        lease.renew(sentAtMs);
        watch();
      } catch (error) {
        // Anything else may pass before the lease is over; then it ends by itself.
        if (!(error instanceof RoomError) || error.reason !== "registration_unknown") return;
        lease.end();
        this.end(error);
      }
    };
    watch();
    this.#beat = setInterval(() => void beat(), heartbeat_interval_ms * heartbeatShare);
  }

  async #ask(method: string, timeoutMs: number, more: JsonObject = {}): Promise<JsonObject> {
    if (this.#isOver) throw await this.ended;
    const params = { session_id: this.#answer?.session_id, ...more };
    const { message, answer } = this.#requests.create(method, params, timeoutMs);
    const sent = this.#channel.send(message);
    // What cannot be sent is not answered either; the first of the two to be known counts.
    const [result] = await Promise.all([answer, sent]);
    return result;
  }
}

function silent(): RoomError {
  return new RoomError("timeout", "the aggregator has not answered a heartbeat within the lease");
}
