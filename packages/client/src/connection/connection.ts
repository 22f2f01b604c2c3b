// Keeps a connection to the room open: connects, comes back with what it knows, and tells when it must not come back.
// It knows envelopes by their number and the gateway's own messages; what they mean to people is for others.
import { type BackoffOptions, backoffMs, closeCodes, mayComeBack, type Protocol } from "@mcpx/protocol";
import { pause, within } from "../core/pause.ts";
import { type Position, resumeText } from "../core/position.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { asError, RoomError } from "../core/room-error.ts";
import type { RoomState } from "../core/room-events.ts";
import type { RoomSigning } from "../signing/room-signing.ts";
import type { GatewayTransport } from "./gateway-transport.ts";
import type { Outbox, Receipt } from "./outbox.ts";
import { type ReceiveHandlers, receive } from "./receive.ts";
import { isAboutToken, isPassing } from "./ticket.ts";
import type { TokenSource } from "./token-source.ts";
import { type Ending, openSession, type Session, type WebSocketLike } from "./web-socket.ts";

export interface ConnectionOptions {
  transport: GatewayTransport;
  topic: string;
  protocol: Protocol;
  /** Envelopes of the past to be given at the first welcome. */
  history: number;
  id: string | undefined;
  backoff: BackoffOptions;
  /** How long the first join may take. */
  joinTimeoutMs: number;
  /** How long one attempt may take until its welcome. */
  connectTimeoutMs: number;
  /** Silence after which the gateway is asked whether it is still there. */
  silenceMs: number;
  /** How long an acknowledgement may take before the connection counts as dead. */
  ackTimeoutMs: number;
  /** Where envelopes are signed or verified. */
  signing: RoomSigning | undefined;
}

export interface ConnectionHandlers extends ReceiveHandlers {
  state(state: RoomState, reason: string | undefined): void;
  error(error: Error): void;
}

/** A connection that lived this long was a good one: the next loss begins anew. */
const goodMs = 5_000;
const watchMs = 1_000;
const releaseMs = 2_000;
/** Timers know no longer time. */
const timerMsMax = 2 ** 31 - 1;

export class Connection {
  readonly options: ConnectionOptions;
  readonly outbox: Outbox;
  readonly handlers: ConnectionHandlers;
  state: RoomState = "connecting";
  reason: string | undefined;
  position: Position | undefined;
  session: Session | undefined;
  /** When this connection was welcomed, on the monotonic clock. */
  welcomedAtMs: number | undefined;
  heardAtMs = 0;
  /** What came up to here may be unknown: history did not reach back. */
  gapEndSeq = 0;
  /** The gateway said when to come back. */
  returnAfterMs: number | undefined;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;
  #lastError = tooLate();

  constructor(options: ConnectionOptions, outbox: Outbox, handlers: ConnectionHandlers) {
    this.options = options;
    this.outbox = outbox;
    this.handlers = handlers;
  }

  /** Aborted when the room is closed for good; its reason says why. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  open(): void {
    this.#running ??= this.#run();
  }

  publish(envelope: RoomEnvelope, options?: { isPassing?: boolean }): Promise<Receipt> {
    if (this.signal.aborted) return Promise.reject(this.signal.reason);
    return this.outbox.publish(envelope, options);
  }

  /** Ends it for good. Resolves when the socket is let go. */
  async close(error = new RoomError("closed", "the room was left")): Promise<void> {
    this.#end(error);
    await this.#running;
  }

  #end(error: RoomError): void {
    if (this.signal.aborted) return;
    this.#ending.abort(error);
    this.session?.end({ code: closeCodes.normal, reason: error.reason });
    this.outbox.close(error);
    this.#setState("closed", error.reason);
  }

  setLive(): void {
    this.welcomedAtMs = performance.now();
    this.#setState("live", undefined);
  }

  #setState(state: RoomState, reason: string | undefined): void {
    if (this.state === state && this.reason === reason) return;
    this.state = state;
    this.reason = reason;
    this.handlers.state(state, reason);
  }

  #run(): Promise<void> {
    const giveUp = () => this.position === undefined && this.#end(this.#lastError);
    const timer = setTimeout(giveUp, Math.min(this.options.joinTimeoutMs, timerMsMax));
    return this.#stay().finally(() => clearTimeout(timer));
  }

  async #stay(): Promise<void> {
    let attempt = 0;
    let hasRenewed = false;
    while (!this.signal.aborted) {
      this.welcomedAtMs = undefined;
      const error = await this.#attempt();
      const livedMs = this.welcomedAtMs === undefined ? 0 : performance.now() - this.welcomedAtMs;
      if (this.signal.aborted) return;
      this.outbox.disconnect();
      if (livedMs > goodMs) {
        attempt = 0;
        hasRenewed = false;
      }
      this.#lastError = error;
      // A provider that fails is asked again; a token that is refused twice is the end.
      const { tokens } = this.options.transport;
      const needsToken = isAboutToken(error) && tokens?.isRenewable && !hasRenewed;
      if (!needsToken && !isPassing(error)) return this.#end(error);
      this.#setState(this.position === undefined ? "connecting" : "reconnecting", error.reason);
      if (needsToken) hasRenewed = await this.#renew(tokens);
      await pause(this.returnAfterMs ?? error.retryAfterMs ?? this.#backoff(attempt), this.signal);
      this.returnAfterMs = undefined;
      attempt += 1;
    }
  }

  async #renew(tokens: TokenSource): Promise<boolean> {
    try {
      await within(tokens.renew(), this.signal);
      return true;
    } catch (thrown) {
      if (!this.signal.aborted) this.handlers.error(asError(thrown));
      return false;
    }
  }

  #backoff(attempt: number): number {
    return backoffMs(attempt, this.options.backoff, Math.random());
  }

  /** One connection from its ticket to its end; resolves with why it ended. */
  async #attempt(): Promise<RoomError> {
    const abort = new AbortController();
    const stop = () => abort.abort(this.signal.reason);
    this.signal.addEventListener("abort", stop, { once: true });
    const late = () => {
      abort.abort(tooLate());
      this.session?.end({ code: 1006, reason: "" });
    };
    const timer = setTimeout(() => this.welcomedAtMs === undefined && late(), this.options.connectTimeoutMs);
    const watch = setInterval(() => this.#watch(), watchMs);
    try {
      const preparing = this.options.transport.prepare(this.#query(), abort.signal);
      return await this.#session(await within(preparing, abort.signal));
    } catch (thrown) {
      return thrown instanceof RoomError
        ? thrown
        : new RoomError("network", asError(thrown).message, { cause: thrown });
    } finally {
      clearTimeout(timer);
      clearInterval(watch);
      this.signal.removeEventListener("abort", stop);
    }
  }

  #query(): URLSearchParams {
    const { topic, protocol, history, id } = this.options;
    const query = new URLSearchParams({ topic, protocol, seq: "1" });
    if (id !== undefined) query.set("id", id);
    if (this.position !== undefined) query.set("resume", resumeText(this.position));
    else if (history > 0) query.set("history", String(history));
    return query;
  }

  async #session(open: () => WebSocketLike): Promise<RoomError> {
    if (this.signal.aborted) return this.signal.reason;
    const session = openSession(open, (text) => {
      this.heardAtMs = performance.now();
      receive(this, text);
    });
    this.session = session;
    const ending = await session.ended;
    this.session = undefined;
    if (this.signal.aborted) await untilReleased(session);
    return errorOf(ending);
  }

  /** Finds what no close tells: a gateway that has fallen silent. */
  #watch(): void {
    if (this.welcomedAtMs === undefined) return;
    const { silenceMs, ackTimeoutMs } = this.options;
    const now = performance.now();
    const sentAtMs = this.outbox.oldestSentAtMs();
    if (sentAtMs !== undefined && now - Math.max(sentAtMs, this.heardAtMs) > ackTimeoutMs) {
      this.session?.end({ code: 1006, reason: "" });
    } else if (sentAtMs === undefined && now - this.heardAtMs > silenceMs) {
      this.handlers.probe();
    }
  }
}

function tooLate(): RoomError {
  return new RoomError("network", "the gateway or the token provider did not answer in time");
}

/** The other side has let go, or had its time to. */
async function untilReleased(session: Session): Promise<void> {
  const isOver = new AbortController();
  void session.released.then(() => isOver.abort());
  await pause(releaseMs, isOver.signal);
}

/** 44xx: not as we are; 45xx and the network's own: come back. */
function errorOf({ code, reason }: Ending): RoomError {
  if (code === closeCodes.unauthorised)
    return new RoomError("unauthorised", reason || "the gateway refused the token");
  if (mayComeBack(code)) return new RoomError("network", `the connection ended (${code} ${reason})`.trim());
  return new RoomError(closeReasons[code] ?? "closed", reason || `closed with ${code}`);
}

const closeReasons: Readonly<Record<number, string>> = {
  [closeCodes.badFrame]: "bad_frame",
  [closeCodes.forbidden]: "kicked",
  [closeCodes.unsupportedProtocol]: "unsupported_protocol",
  [closeCodes.replaced]: "replaced",
  [closeCodes.abuse]: "too_many_faults",
};
