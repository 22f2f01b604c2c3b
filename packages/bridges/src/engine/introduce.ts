// A peer serves nobody who has not introduced themselves.
import type { RoomConnection } from "../rooms/room-connection.ts";
import type { Card } from "../store/bridge-store.ts";

export async function introduce(roomConnection: RoomConnection, card: Card, target: string): Promise<void> {
  const id = `hello-${card.id}-${performance.now().toString(36).replace(".", "")}`;
  await roomConnection.request(target, id, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "@mcpx/bridges", version: "0.1.0" },
  });
  const payload = { jsonrpc: "2.0", method: "notifications/initialized" };
  await roomConnection.publish({ id: `${id}-done`, kind: "mcp", to: [target], payload });
}
