// What every handler is given, and what it decides. It sends nothing itself: `receive` carries it out.
import type { Envelope, Level, Permission } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";

export interface Handling {
  gateway: Gateway;
  member: Member;
  envelope: Envelope;
  permission: Permission;
}

export type HandlerOutcome =
  /** Into the log, then to everybody; with the `correlation_id` that its sender left to be found. */
  | { type: "publish"; correlationId?: string }
  /** Done by the gateway alone; the sender is told, the others where it concerns them. */
  | {
      type: "done";
      answer?: Record<string, unknown>;
      isPresenceNews?: true;
      level?: Level;
      /** For the whole room. */
      announcement?: { event: string; [key: string]: unknown };
    };

export const publish: HandlerOutcome & { type: "publish" } = { type: "publish" };
