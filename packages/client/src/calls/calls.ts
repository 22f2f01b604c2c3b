// Requests on their way to peers. An answer counts only from the one who was asked, for the envelope it was asked
// in, with the very id it was asked under. [X0-4.1-3]

import { isObject, type JsonObject, numeric, written } from "@mcpx/protocol";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { PeerError, RoomError } from "../core/room-error.ts";

export interface Call {
  readonly peer: string;
  readonly envelopeId: string;
  readonly rpcId: number;
  /** The gateway has it: from here on its outcome is the peer's. */
  isPublished: boolean;
  /** With the whole JSON-RPC response. */
  answer(payload: JsonObject): void;
  fail(error: Error): void;
  progress?: ((params: JsonObject) => void) | undefined;
}

export class Calls {
  readonly #max: number;
  readonly #byEnvelope = new Map<string, Call>();
  readonly #byRpcId = new Map<number, Call>();
  #lastRpcId: number;

  /** Two connections of one participant begin far apart: to a peer they are the same. */
  constructor(max: number, isSecond = false) {
    this.#max = max;
    this.#lastRpcId = isSecond ? Math.ceil(Math.random() * 2 ** 48) : 0;
  }

  get size(): number {
    return this.#byEnvelope.size;
  }

  /** A number no other request of this room has: one participant is one JSON-RPC party to each peer. [X0-4.1-10] */
  nextRpcId(): number {
    this.#lastRpcId += 1;
    return this.#lastRpcId;
  }

  add(call: Call): void {
    if (this.size >= this.#max) throw new RoomError("too_many_calls", `${this.#max} calls are under way`);
    this.#byEnvelope.set(call.envelopeId, call);
    this.#byRpcId.set(call.rpcId, call);
  }

  delete(call: Call): void {
    this.#byEnvelope.delete(call.envelopeId);
    this.#byRpcId.delete(call.rpcId);
  }

  ofEnvelope(envelopeId: string | undefined): Call | undefined {
    return envelopeId === undefined ? undefined : this.#byEnvelope.get(envelopeId);
  }

  ofRpcId(rpcId: unknown, peer: string): Call | undefined {
    const call = typeof rpcId === "number" ? this.#byRpcId.get(rpcId) : undefined;
    return call?.peer === peer ? call : undefined;
  }

  /** Takes a response; `false` where nobody here waits for it. */
  answer({ from, correlation_id, payload }: RoomEnvelope): boolean {
    const call = this.ofEnvelope(correlation_id);
    if (call === undefined || call.peer !== from || payload.id !== call.rpcId) return false;
    this.delete(call);
    call.answer(payload);
    return true;
  }

  /** Takes a progress notification. [X0-13.3-1] */
  progress(from: string, params: JsonObject): void {
    this.ofRpcId(params.progressToken, from)?.progress?.(params);
  }

  failAll(error: Error, concerns: (call: Call) => boolean = () => true): void {
    for (const call of [...this.#byEnvelope.values()]) {
      if (!concerns(call)) continue;
      this.delete(call);
      call.fail(error);
    }
  }
}

/** The result in a response, or its error thrown. */
export function resultOf(payload: JsonObject): JsonObject {
  if (isObject(payload.result)) return payload.result;
  const error = isObject(payload.error) ? payload.error : {};
  throw new PeerError(
    numeric(error.code ?? 0),
    written(error.message ?? "no result and no error"),
    error.data,
  );
}
