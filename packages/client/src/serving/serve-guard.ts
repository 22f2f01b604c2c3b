// What stands between a room and what is served in it. The guard itself is loaded only by those who have one.
import type { JsonObject } from "@mcpx/protocol";
import type { Origin } from "../calls/incoming.ts";
import type { RoomCore } from "../core/room-core.ts";

/** From `@mcpx/client/guard`. */
export interface ServeGuard {
  open(core: RoomCore): OpenGuard;
}

export interface OpenGuard {
  /** The server is there and can be asked what it has. */
  begin(): Promise<void>;
  /** Whether it answers a method itself. */
  answers(method: string): boolean;
  answer(origin: Origin, params: JsonObject): Promise<void>;
  /** The parameters a tool is to see; throws where the call may not be made. */
  admit(origin: Origin, params: JsonObject): Promise<JsonObject>;
  /** A listing of tools, with what each needs of this peer. */
  shown(result: JsonObject, peer: string): JsonObject;
  /** The sender no longer wants it. */
  cancel(peer: string, rpcId: unknown): void;
  /** Answers what was refused; `false` for what was no refusal. */
  hasRefused(origin: Origin, error: unknown): boolean;
  close(): void;
}
