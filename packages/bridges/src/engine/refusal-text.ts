// Why the gateway or a peer refused something, for the person it concerns: their sentence, never internals.
import { isMcpxError } from "@mcpx/protocol";
import { RoomConnectionRefusal } from "../rooms/room-connection.ts";

export function refusalText(error: unknown): string {
  if (error instanceof RoomConnectionRefusal) return `${error.message} (${error.reason})`;
  if (isMcpxError(error)) return `${error.detail} (${error.code})`;
  return "it cannot be reached now. Try again later.";
}
