// Requests of others that a guard is thinking about: bounded, and forgotten when their sender takes them back.
import { errorTable, isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import { answer, type Origin } from "../calls/incoming.ts";
import type { RoomCore } from "../core/room-core.ts";
import { RoomError } from "../core/room-error.ts";
import type { Proposal } from "../proposals/proposal.ts";
import type { OpenGuard } from "../serving/serve-guard.ts";

/** A request as a guard sees it, before any server does. */
export interface GuardedRequest {
  peer: string;
  rpcId: string | number;
  method: string;
  params: JsonObject;
  /** The proposal that this very envelope fulfils. */
  proposal: Proposal | undefined;
  /** Aborted when the sender has cancelled it. */
  signal: AbortSignal;
}

/** What a guard decides, one request at a time. */
export interface Decisions extends Pick<OpenGuard, "begin" | "answers" | "shown" | "close"> {
  answer(request: GuardedRequest): Promise<JsonObject>;
  admit(request: GuardedRequest): Promise<JsonObject>;
}

const openMax = 1_024;
/** One peer alone cannot keep a guard from the others. */
const openPerPeerMax = 256;

export class Admissions implements OpenGuard {
  readonly #core: RoomCore;
  readonly #guard: Decisions;
  readonly #open = new Map<Origin, AbortController>();

  constructor(core: RoomCore, guard: Decisions) {
    this.#core = core;
    this.#guard = guard;
  }

  begin(): Promise<void> {
    return this.#guard.begin();
  }

  answers(method: string): boolean {
    return this.#guard.answers(method);
  }

  async answer(origin: Origin, params: JsonObject): Promise<void> {
    const result = await this.#during(origin, params, (request) => this.#guard.answer(request));
    await answer(this.#core, origin, { jsonrpc: "2.0", id: origin.rpcId, result });
  }

  admit(origin: Origin, params: JsonObject): Promise<JsonObject> {
    return this.#during(origin, params, (request) => this.#guard.admit(request));
  }

  shown(result: JsonObject, peer: string): JsonObject {
    return this.#guard.shown(result, peer);
  }

  cancel(peer: string, rpcId: unknown): void {
    for (const [origin, abort] of this.#open) {
      if (origin.peer === peer && origin.rpcId === rpcId) abort.abort(cancelled());
    }
  }

  /** Answers what was refused; `false` for what was no refusal. What was taken back needs no answer. */
  hasRefused(origin: Origin, error: unknown): boolean {
    if (error instanceof RoomError && error.reason === "aborted") return true;
    if (!isMcpxError(error)) return false;
    const { code, message } = errorTable[error.code];
    const { detail, suggestion, retryAfterMs } = error;
    const retry = retryAfterMs === undefined ? {} : { retry_after_ms: retryAfterMs };
    const data = { reason: error.code, detail, suggestion, ...retry };
    const response = { jsonrpc: "2.0", id: origin.rpcId, error: { code, message, data } };
    answer(this.#core, origin, response).catch((fault: Error) => this.#core.events.emit("error", fault));
    return true;
  }

  close(): void {
    this.#guard.close();
    for (const abort of this.#open.values()) abort.abort(cancelled());
  }

  async #during<T>(
    origin: Origin,
    params: JsonObject,
    work: (request: GuardedRequest) => Promise<T>,
  ): Promise<T> {
    const { peer, rpcId, method } = origin;
    const ofPeer = [...this.#open.keys()].filter((other) => other.peer === peer);
    if (this.#open.size >= openMax || ofPeer.length >= openPerPeerMax) {
      throw new McpxError("rate_limited", "too many requests are open", { retryAfterMs: 1_000 });
    }
    const abort = new AbortController();
    this.#open.set(origin, abort);
    try {
      const proposal = this.#fulfilledBy(origin);
      const result = await work({ peer, rpcId, method, params, proposal, signal: abort.signal });
      abort.signal.throwIfAborted();
      return result;
    } finally {
      this.#open.delete(origin);
    }
  }

  /** Only what the room itself has seen: what a call says of its proposal proves nothing. */
  #fulfilledBy({ envelopeId, fulfils }: Origin): GuardedRequest["proposal"] {
    const proposal = this.#core.tracker.get(fulfils?.proposal ?? "");
    return proposal?.fulfilment?.envelopeId === envelopeId ? proposal : undefined;
  }
}

function cancelled(): RoomError {
  return new RoomError("aborted", "the sender has cancelled it");
}
