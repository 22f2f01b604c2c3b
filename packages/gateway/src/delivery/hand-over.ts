// A topic is another gateway's now: everybody who is here comes back, and is shown the way there.
import { closeCodes } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { Room } from "../room/room.ts";

export function handOver(gateway: Gateway, room: Room): void {
  const { topic, members } = room;
  // Somebody may have opened it anew meanwhile.
  if (gateway.rooms.get(topic) === room) gateway.rooms.delete(topic);
  // Nobody is told that the others leave: they will all be there again.
  const moved = [...members.values()];
  members.clear();
  for (const member of moved) {
    member.hasLeft = true;
    member.socket.close(closeCodes.draining, "the topic has moved; reconnect");
  }
  if (moved.length > 0) gateway.log.info({ topic, members: moved.length }, "topic handed over");
}
