// What can go wrong, in two classes: the room could not do it (`RoomError`), or the one who was asked answered with
// a JSON-RPC error (`PeerError`). Both are recognised by their word or number, never by `instanceof`.
import { isObject, type JsonObject } from "@mcpx/protocol";

/** Words of this library's own; the gateway's are those of its error table. */
export type ClientReason =
  | "aborted"
  | "bad_answer"
  | "bad_option"
  | "closed"
  | "fell_behind"
  | "gap"
  | "identity_change"
  | "network"
  | "not_here"
  | "not_pending"
  | "outbox_full"
  | "peer_left"
  | "proposal_expired"
  | "proposal_rejected"
  | "proposal_withdrawn"
  | "timeout"
  | "too_many_calls";

export class RoomError extends Error {
  /** One of `ClientReason`, or a word of the gateway's error table. */
  readonly reason: string;
  /** The gateway's number, where it was the gateway that refused. */
  readonly code: number | undefined;
  readonly data: JsonObject | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(
    reason: ClientReason | (string & {}),
    message: string,
    more: { code?: number; data?: JsonObject; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, more.cause === undefined ? {} : { cause: more.cause });
    this.name = "RoomError";
    this.reason = reason;
    this.code = more.code;
    this.data = more.data;
    this.retryAfterMs = more.retryAfterMs;
  }
}

/** A JSON-RPC error in answer to a request: from the peer, or from the gateway in its place. */
export class PeerError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = "PeerError";
    this.code = code;
    this.data = data;
  }

  /** The stable word inside `data`, where there is one. */
  get reason(): string | undefined {
    return isObject(this.data) && typeof this.data.reason === "string" ? this.data.reason : undefined;
  }
}

/** Whatever was thrown, as an error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
