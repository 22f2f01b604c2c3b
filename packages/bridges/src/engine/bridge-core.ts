// What the verbs of a bridge share.

import type { Presses } from "../cards/presses.ts";
import type { Platform } from "../platform.ts";
import type { BridgeRooms } from "../rooms/bridge-rooms.ts";
import type { Followed } from "../rooms/follow-room.ts";
import type { RoomConnections } from "../rooms/room-connections.ts";
import type { BridgeStore } from "../store/bridge-store.ts";
import type { Pace } from "./pace.ts";

export interface BridgeLog {
  debug(detail: object, text: string): void;
  info(detail: object, text: string): void;
  warn(detail: object, text: string): void;
}

export interface BridgeOptions {
  /** The bridge's name in the configuration. */
  readonly name: string;
  /** The platform's word; ids of its users begin with it. */
  readonly kind: string;
  readonly platform: Platform;
  /** Which room each channel carries. */
  readonly channels: ReadonlyMap<string, string>;
  /** What people may do who are not linked. */
  readonly unlinked: "read" | "guest";
  readonly store: BridgeStore;
  readonly rooms: BridgeRooms;
  /** Known to this gateway alone: marks what came from a channel, so that it does not go back there. */
  readonly secret: Uint8Array;
  /** Presses that count as signatures; none unless given. */
  readonly presses?: Presses | undefined;
  readonly log: BridgeLog;
  /** The room in the console, where people read and decide what a platform cannot show. */
  roomUrl(topic: string): string | undefined;
  readonly now?: () => number;
}

/** A channel and its room, while the bridge runs. */
export interface Channel {
  readonly id: string;
  readonly topic: string;
  readonly pace: Pace;
  /** Undefined until the room was joined. */
  followed: Followed | undefined;
  /** Proposals whose cards are not as the proposals are. */
  readonly stale: Set<string>;
  /** Ends the wait for news. */
  wake(): void;
  /** What is wrong, where something is. */
  fault: string | undefined;
  /** The number up to which everything is on the platform. */
  carried: number;
}

export interface BridgeCore {
  readonly options: BridgeOptions;
  readonly channels: ReadonlyMap<string, Channel>;
  readonly roomConnections: RoomConnections;
  /** Aborted when the bridge is closed. */
  readonly signal: AbortSignal;
  /** When somebody was told something last, by person and matter. */
  readonly told: Map<string, number>;
  /** Wrong codes of each person. */
  readonly guesses: Map<string, number[]>;
  now(): number;
}
