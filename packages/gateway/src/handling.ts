// What every handler is given.
import type { Envelope, Permission } from "@mcpx/protocol";
import type { Gateway } from "./gateway-state.ts";
import type { Member } from "./room.ts";

export interface Handling {
  gateway: Gateway;
  member: Member;
  envelope: Envelope;
  permission: Permission;
}
