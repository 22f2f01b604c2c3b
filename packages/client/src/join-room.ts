// Joining a room: options checked and filled in, the parts put together, the first welcome waited for.
import { isId, isProtocol, type JsonObject, type Protocol } from "@mcpx/protocol";
import type { BackoffOptions } from "./backoff.ts";
import { Calls } from "./calls.ts";
import { Connection, type ConnectionHandlers } from "./connection.ts";
import { Outbox } from "./outbox.ts";
import { takeNotice, takeWelcome } from "./presence.ts";
import { ProposalTracker } from "./proposals/tracker.ts";
import { lostInGap } from "./request.ts";
import { Room } from "./room.ts";
import { publish, type RoomCore } from "./room-core.ts";
import { asError, RoomError } from "./room-error.ts";
import { RoomEvents } from "./room-events.ts";
import { Roster } from "./roster.ts";
import { route } from "./route.ts";
import { httpBase } from "./ticket.ts";
import { type TokenProvider, TokenSource } from "./token-source.ts";
import { ProposalTracking } from "./track-proposals.ts";
import type { WebSocketConstructor } from "./web-socket.ts";

export interface JoinOptions {
  /** The gateway: `http://127.0.0.1:6279`, or with `https:`, `ws:`, `wss:`. */
  url: string;
  topic: string;
  token?: string;
  /** Asked for a token at the first join, before one expires, and when one is refused. */
  tokenProvider?: TokenProvider;
  /** A public JWK (Ed25519 or P-256) to be shown beside our name. */
  key?: JsonObject;
  /** Our id, in open mode with a token that names none. */
  id?: string;
  /** `mcpx/v0.1` unless given. [X1-6.3-4] */
  protocol?: Protocol;
  /** When to shake hands: at the first call, as soon as somebody is here, or when `room.peer` is asked for. */
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
  if (signal?.aborted) throw signal.reason;
  const { core, tracking, welcomed } = assemble(options);
  const { connection } = core;
  const onAbort = () => void connection.close(new RoomError("aborted", asError(signal?.reason).message));
  signal?.addEventListener("abort", onAbort, { once: true });
  connection.open();
  try {
    await welcomed;
    if (options.key !== undefined) {
      await publish(core, { kind: "system", payload: { type: "key", jwk: options.key } });
    }
    return new Room(core, tracking);
  } catch (error) {
    await connection.close();
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

function assemble(options: JoinOptions): {
  core: RoomCore;
  tracking: ProposalTracking;
  welcomed: Promise<void>;
} {
  const { topic, protocol = "mcpx/v0.1", outboxMax = 1_000, callsMax = 1_000 } = options;
  const WebSocket = options.WebSocket ?? (globalThis.WebSocket as WebSocketConstructor | undefined);
  if (!isId(topic)) throw new RoomError("bad_option", "topic must be a name");
  if (!isProtocol(protocol)) throw new RoomError("bad_option", "protocol must be mcpx/v0.1 or mcp-x/v0");
  if (WebSocket === undefined) throw new RoomError("bad_option", "this platform has no WebSocket: give one");
  const { promise: welcomed, resolve, reject } = Promise.withResolvers<void>();
  const handlers: ConnectionHandlers = {
    welcomed: (welcome) => {
      const isFirst = core.id === "";
      takeWelcome(core, welcome);
      if (isFirst) tracking.remember(welcome.recent);
      resolve();
    },
    envelope: (envelope) => {
      tracking.observe(envelope);
      route(core, envelope);
    },
    notice: (envelope) => takeNotice(core, envelope),
    gap: (gap) => {
      core.calls.failAll(lostInGap(), ({ isPublished }) => isPublished);
      core.events.emit("gap", gap);
    },
    error: (error) => core.events.emit("error", error),
    tokenExpiring: () => void refresh(core, true),
    probe: () => void refresh(core, false),
    state: (state, reason) => {
      if (state === "closed") dissolve(core, tracking, reject);
      core.events.emit("state", { state, reason });
      if (state === "closed") core.events.close();
    },
  };
  const connection = new Connection(
    {
      base: httpBase(options.url),
      topic,
      protocol,
      history: options.history ?? 100,
      id: options.id,
      tokens: new TokenSource(options),
      WebSocket,
      backoff: { minMs: 200, maxMs: 15_000, ...options.backoff },
      joinTimeoutMs: options.joinTimeoutMs ?? 10_000,
      connectTimeoutMs: Math.min(options.joinTimeoutMs ?? 10_000, 10_000),
      silenceMs: options.silenceMs ?? 60_000,
      ackTimeoutMs: options.ackTimeoutMs ?? 15_000,
    },
    new Outbox({ max: outboxMax, windowMax: 32 }),
    handlers,
  );
  const core: RoomCore = {
    topic,
    protocol,
    options: {
      callTimeoutMs: options.callTimeoutMs ?? 60_000,
      peerGraceMs: options.peerGraceMs ?? 5_000,
      handshake: options.handshake ?? "on-demand",
      clientInfo: options.clientInfo ?? { name: "@mcpx/client", version: "0.1.0" },
      bufferMax: options.bufferMax ?? 1_000,
    },
    connection,
    events: new RoomEvents(),
    roster: new Roster(),
    calls: new Calls(callsMax),
    tracker: new ProposalTracker(),
    receivers: new Set(),
    handshakes: new Map(),
    graces: new Map(),
    served: undefined,
    callSelf: undefined,
    id: "",
    level: "restricted",
    recent: [],
    clockOffsetMs: 0,
  };
  const tracking = new ProposalTracking(core);
  return { core, tracking, welcomed };
}

/** A new token before the old one ends; or the old one again, to hear whether the gateway is there. */
async function refresh(core: RoomCore, isNew: boolean): Promise<void> {
  const { tokens } = core.connection.options;
  if (isNew && !tokens.isRenewable) return;
  try {
    const token = await (isNew ? tokens.renew() : tokens.current());
    await publish(core, { kind: "system", payload: { type: "refresh", token } }, { isPassing: true });
  } catch (error) {
    if (isNew) core.events.emit("error", asError(error));
  }
}

/** The room is over: everything that waits is told so, nothing ticks on. */
function dissolve(core: RoomCore, tracking: ProposalTracking, reject: (error: Error) => void): void {
  const error: Error = core.connection.signal.reason;
  reject(error);
  core.calls.failAll(error);
  for (const timer of core.graces.values()) clearTimeout(timer);
  core.graces.clear();
  tracking.close();
  for (const receiver of [...core.receivers]) receiver.ended(undefined);
  core.served?.ended(undefined);
}
