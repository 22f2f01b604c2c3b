// The ways into rooms that a bridge is given: the command line makes them, so that a bridge never holds a token.
import type { Room, WebSocketLike } from "@mcpx/client";
import type { Level } from "@mcpx/protocol";

/** A person as the gateway shall know them. */
export interface Member {
  readonly participant: string;
  readonly name?: string | undefined;
  readonly level?: Level | undefined;
  /** What can be revoked, so that the connection ends with the link. */
  readonly linkId?: string | undefined;
}

export interface BridgeRooms {
  /** As the bridge itself, which reads and decides nothing. */
  join(topic: string): Promise<Room>;
  /** As a participant of this process that asks for tools, in the bridge's place: their schemas say what is secret. */
  scout(topic: string): Promise<Room>;
  /** As somebody: a connection of their own, judged by the gateway like any other. */
  enter(member: Member, topic: string): Promise<WebSocketLike>;
}
