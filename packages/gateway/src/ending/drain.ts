// Shutting down without losing or doubling anything: clients are told, what they sent is acknowledged, then closed.
import { closeCodes } from "@mcpx/protocol";
import { single } from "../delivery/batch.ts";
import { systemText } from "../delivery/system-envelope.ts";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";

/** Clients come back spread over this long. */
const spreadMs = 2_000;

export async function drain(gateway: Gateway): Promise<void> {
  gateway.isDraining = true;
  const members = [...gateway.rooms.values()].flatMap((room) => [...room.members.values()]);
  for (const member of members) tell(gateway, member);
  // What was read is finished; what was not will be sent again, by its id, to the next process.
  await Promise.all(members.map(({ tail }) => tail));
  while ([...gateway.rooms.values()].some(({ pending, outbox }) => pending > 0 || outbox.length > 0)) {
    await new Promise(setImmediate);
  }
  // Those who come back find another gateway that serves their topic.
  await gateway.ownership?.release();
  gateway.edge?.drain();
  for (const { socket } of members) socket.close(closeCodes.draining, "draining; reconnect");
  await allClosed(gateway);
  for (const { socket } of members) socket.destroy();
}

function tell({ clock }: Gateway, { socket, protocol, participant }: Member): void {
  socket.pause();
  const payload = { event: "draining", reconnect_after_ms: Math.floor(Math.random() * spreadMs) };
  socket.write(single(systemText({ protocol, to: participant.id }, clock.now(), payload)));
}

async function allClosed({ rooms, limits, clock }: Gateway): Promise<void> {
  const until = clock.monotonic() + limits.drainMs;
  while (clock.monotonic() < until && [...rooms.values()].some(({ members }) => members.size > 0)) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
