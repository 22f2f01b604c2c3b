// The gateway ends a connection: the member is out at once, the close code tells it why.
import type { CloseCode } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";
import { leave } from "./leave.ts";

export function expel(gateway: Gateway, member: Member, code: CloseCode, reason: string): void {
  if (member.hasLeft) return;
  leave(gateway, member, reason);
  member.socket.close(code, reason);
}
