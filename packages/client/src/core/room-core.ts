// What the parts of a room share. It holds state; the verbs are in files of their own.
import type { AccessKey, JsonObject, Level, Protocol } from "@mcpx/protocol";
import type { Calls } from "../calls/calls.ts";
import type { Connection } from "../connection/connection.ts";
import type { Receipt } from "../connection/outbox.ts";
import type { ProposalTracker } from "../proposals/tracker.ts";
import { newId } from "./new-id.ts";
import type { RoomEnvelope } from "./room-envelope.ts";
import type { RoomEvents } from "./room-events.ts";
import type { Roster } from "./roster.ts";

/** Takes JSON-RPC messages of one peer, or of all. Returns whether it took it. */
export interface Receiver {
  request(envelope: RoomEnvelope): boolean;
  notification(envelope: RoomEnvelope): void;
  /** The peer is gone and has not come back in time; `undefined`: the room is closed. */
  ended(peer: string | undefined): void;
}

/** What is served to everybody. */
export interface Serving extends Receiver {
  serves(method: string): boolean;
}

interface CoreOptions {
  callTimeoutMs: number;
  /** How long a peer may be away before what it was asked fails. */
  peerGraceMs: number;
  handshake: "on-demand" | "eager" | "lazy";
  clientInfo: { name: string; version: string };
  bufferMax: number;
  /** Requests to this participant are for another of its connections. */
  isSecond: (() => boolean) | undefined;
}

export interface RoomCore {
  readonly topic: string;
  readonly protocol: Protocol;
  readonly options: CoreOptions;
  readonly connection: Connection;
  readonly events: RoomEvents;
  readonly roster: Roster;
  readonly calls: Calls;
  readonly tracker: ProposalTracker;
  /** Transports first, in the order they were opened; what is served to everybody last. */
  readonly receivers: Set<Receiver>;
  readonly handshakes: Map<string, Promise<JsonObject>>;
  /** Peers that have left a moment ago. */
  readonly graces: Map<string, ReturnType<typeof setTimeout>>;
  served: Serving | undefined;
  /** Sends a request to what is served here, without the room. */
  callSelf: ((method: string, params: JsonObject, call: LocalCall) => Promise<JsonObject>) | undefined;
  /** Signs calls where tools need capabilities. */
  readonly key: AccessKey | undefined;
  connectionId: string;
  id: string;
  level: Level;
  recent: RoomEnvelope[];
  hasHistory: boolean;
  /** The gateway's clock minus ours. */
  clockOffsetMs: number;
}

export interface LocalCall {
  /** The envelope it comes of. */
  envelopeId?: string | undefined;
  signal?: AbortSignal | undefined;
  onProgress?: ((params: JsonObject) => void) | undefined;
}

/** What one writes; the rest is filled in. */
export interface Draft {
  kind: string;
  payload: JsonObject;
  to?: readonly string[] | undefined;
  correlation_id?: string | undefined;
  id?: string | undefined;
}

export function publish(core: RoomCore, draft: Draft, options?: { isPassing?: boolean }): Promise<Receipt> {
  const { kind, payload, to, correlation_id, id = newId() } = draft;
  const envelope: RoomEnvelope = {
    protocol: core.protocol,
    id,
    ts: new Date().toISOString(),
    from: core.id,
    ...(to === undefined || to.length === 0 ? {} : { to: [...to] }),
    kind,
    ...(correlation_id === undefined ? {} : { correlation_id }),
    payload,
  };
  return core.connection.publish(envelope, options);
}

/** The gateway's time, as far as is known here. */
export function roomNow(core: RoomCore): number {
  return Date.now() + core.clockOffsetMs;
}

/** Tells a peer, or all, something that needs no answer. Where our level does not allow it, nothing is said. */
export function notify(
  core: RoomCore,
  to: readonly string[],
  method: string,
  params: JsonObject | undefined,
  correlation_id?: string,
): Promise<Receipt | undefined> {
  if (core.level !== "full") return Promise.resolve(undefined);
  const payload = { jsonrpc: "2.0", method, ...(params === undefined ? {} : { params }) };
  return publish(core, { kind: "mcp", to, correlation_id, payload });
}
