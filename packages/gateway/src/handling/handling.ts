// What every handler is given.
import type { Envelope, Permission } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";

export interface Handling {
  gateway: Gateway;
  member: Member;
  envelope: Envelope;
  permission: Permission;
}
