// Joining a room: what can be said about it, and the first welcome waited for.
import type { AccessKey, BackoffOptions, JsonObject, Protocol } from "@mcpx/protocol";
import type { LocalGateway } from "../connection/gateway-transport.ts";
import type { TokenProvider } from "../connection/token-source.ts";
import type { WebSocketConstructor } from "../connection/web-socket.ts";
import { asError, RoomError } from "../core/room-error.ts";
import type { KeyBook } from "../signing/key-book.ts";
import type { RoomSigning } from "../signing/room-signing.ts";
import { assemble, showKey } from "./assemble.ts";
import { Room } from "./room.ts";

export interface JoinOptions {
  /** The gateway: `http://127.0.0.1:6279`, or with `https:`, `ws:`, `wss:`. */
  url?: string;
  /** A gateway in this process, instead of `url` and a token. */
  gateway?: LocalGateway;
  /** Whether another connection of the same participant is there now: requests are left to it. */
  isSecond?: () => boolean;
  topic: string;
  token?: string;
  /** Asked for a token at the first join, before one expires, and when one is refused. */
  tokenProvider?: TokenProvider;
  /**
   * To be shown beside our name: a public JWK (Ed25519 or P-256), or a key that can sign, from `@mcpx/client/guard`.
   * With the latter, calls ask for capabilities and carry them by themselves.
   */
  key?: JsonObject | AccessKey;
  /** Signs what we publish, so that others can verify it without trusting the gateway. */
  sign?: AccessKey;
  /** The keys we trust, from `@mcpx/client/signing`: with them `room.verify` judges what others have signed. */
  verify?: KeyBook;
  /** Our id, in open mode with a token that names none. */
  id?: string;
  /** `mcpx/v0.1` unless given. [X1-6.3-4] */
  protocol?: Protocol;
  /** When to send `initialize`: at the first call, as soon as somebody is here, or when `room.peer` is asked for. */
  handshake?: "on-demand" | "eager" | "lazy";
  /** Envelopes of the past to begin with; 100 unless given. They tell the tracker what is pending. */
  history?: number;
  clientInfo?: { name: string; version: string };
  /** The platform's unless given. */
  WebSocket?: WebSocketConstructor;
  signal?: AbortSignal;
  /** How long the first join may take, attempts included; 10 s unless given. */
  joinTimeoutMs?: number;
  /** How long a call may take; 60 s unless given. */
  callTimeoutMs?: number;
  /** How long a peer may be away before calls to it fail; 5 s unless given. */
  peerGraceMs?: number;
  /** How long an acknowledgement may take before the connection counts as dead; 15 s unless given. */
  ackTimeoutMs?: number;
  /** Silence after which the gateway is asked for a sign of life; 60 s unless given. */
  silenceMs?: number;
  backoff?: Partial<BackoffOptions>;
  /** Bounds: 1 000 each unless given. */
  outboxMax?: number;
  callsMax?: number;
  bufferMax?: number;
}

/**
 * Joins a room. Resolves when the gateway has welcomed us; from then on it keeps itself connected.
 * @example
 * await using room = await joinRoom({ url: "http://127.0.0.1:6279", topic: "kitchen", token });
 * await room.say("hello");
 * const result = await room.peer("oven").callTool("heat", { degrees: 180 });
 */
export async function joinRoom(options: JoinOptions): Promise<Room> {
  const { signal } = options;
  const signing = await loadSigning(options);
  if (signal?.aborted) throw signal.reason;
  const { core, tracking, welcomed } = assemble(options, signing);
  const { connection } = core;
  const onAbort = () => void connection.close(new RoomError("aborted", asError(signal?.reason).message));
  signal?.addEventListener("abort", onAbort, { once: true });
  connection.open();
  try {
    await welcomed;
    await showKey(core, options);
    return new Room(core, tracking);
  } catch (error) {
    await connection.close();
    throw signal?.aborted ? signal.reason : error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Most rooms sign nothing: they need not load this. */
async function loadSigning(options: JoinOptions): Promise<RoomSigning | undefined> {
  if (options.sign === undefined && options.verify === undefined) return undefined;
  const { RoomSigning } = await import("../signing/room-signing.ts");
  return new RoomSigning(options);
}
