// A room as a server of the tree: everybody there is a part of the tree, under the name the configuration gives it.
import { createRoomLink, type OpenServer } from "@mcpx/aggregator";
import { McpxError } from "@mcpx/protocol";

/** Who the tree is in the room of the server with this name, unless it is told. */
export function roomServerId({ as }: { as?: string }, name: string): string {
  return as ?? `tree.${name}`;
}

export function openRoomServer(name: string, topic: string, id: string): OpenServer {
  return async ({ rooms }, taker) => {
    if (rooms === undefined) {
      throw new McpxError(
        "server_unreachable",
        `${name}: rooms are joined by a gateway; start it with mcpx up`,
      );
    }
    return createRoomLink(await rooms.join(topic, id), taker, { isLeftOut: rooms.isOwn });
  };
}
