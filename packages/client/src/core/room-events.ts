// Everything a room tells its holder, by name: `addEventListener` for those who listen, `events` for those who loop.
import type { JsonObject, Level } from "@mcpx/protocol";
import type { ProposalChange } from "../proposals/proposal.ts";
import type { ChatMessage } from "../room/chat.ts";
import { type EventStream, openEventStream } from "./event-stream.ts";
import type { RoomEnvelope } from "./room-envelope.ts";
import type { Participant } from "./roster.ts";

export type RoomState = "connecting" | "live" | "reconnecting" | "closed";

export interface RoomEventMap {
  /** Somebody else has said something, in the form of either protocol. */
  chat: ChatMessage;
  presence: { event: "join" | "leave" | "heartbeat"; participant: Participant; reason?: string };
  proposal: ProposalChange;
  level: { participant: string; old: Level | undefined; new: Level | "none"; by: string };
  /** Every envelope of the topic in its order, own ones at their acknowledgement, and what the gateway says. */
  envelope: RoomEnvelope;
  /** An MCP notification to us or to all, such as `notifications/tools/list_changed`. */
  notification: { from: string; method: string; params: JsonObject };
  state: { state: RoomState; reason: string | undefined };
  /** History did not reach back: what came between the two positions is not known here. */
  gap: { reason: string; from: { epoch: string; seq: number }; to: { epoch: string; seq: number } };
  error: Error;
}

export type RoomEventName = keyof RoomEventMap;

export class RoomEvent<Name extends RoomEventName> extends Event {
  declare readonly type: Name;
  readonly detail: RoomEventMap[Name];

  constructor(type: Name, detail: RoomEventMap[Name]) {
    super(type);
    this.detail = detail;
  }
}

export type RoomListener<Name extends RoomEventName> =
  | ((event: RoomEvent<Name>) => void)
  | { handleEvent(event: RoomEvent<Name>): void };

export interface RoomListenerOptions {
  once?: boolean;
  signal?: AbortSignal;
}

export class RoomEvents {
  readonly #target = new EventTarget();
  readonly #streams = new Map<RoomEventName, Set<EventStream<never>>>();

  emit<Name extends RoomEventName>(type: Name, detail: RoomEventMap[Name]): void {
    for (const stream of this.#streams.get(type) ?? []) stream.push(detail as never);
    this.#target.dispatchEvent(new RoomEvent(type, detail));
  }

  add<Name extends RoomEventName>(
    type: Name,
    listener: RoomListener<Name>,
    options?: RoomListenerOptions,
  ): void {
    this.#target.addEventListener(type, listener as never, options);
  }

  remove<Name extends RoomEventName>(type: Name, listener: RoomListener<Name>): void {
    this.#target.removeEventListener(type, listener as never);
  }

  stream<Name extends RoomEventName>(
    type: Name,
    bufferMax: number,
  ): AsyncIterableIterator<RoomEventMap[Name]> {
    const streams = this.#streams.get(type) ?? new Set();
    this.#streams.set(type, streams);
    const stream = openEventStream<RoomEventMap[Name]>(bufferMax, () =>
      streams.delete(stream as EventStream<never>),
    );
    streams.add(stream as EventStream<never>);
    return stream.iterator;
  }

  /** Loops end after what they still hold. */
  close(): void {
    for (const streams of this.#streams.values()) for (const stream of [...streams]) stream.end();
  }
}
