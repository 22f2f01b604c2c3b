// Once a second: tokens that end, sockets that are silent or slow, rooms that are empty.
import { announcePresence } from "../delivery/announce.ts";
import { single } from "../delivery/batch.ts";
import { cutOffIfSlow } from "../delivery/deliver.ts";
import { expelIfExpired } from "../delivery/leave.ts";
import { systemText } from "../delivery/system-envelope.ts";
import { recordExpired } from "../receiving/audit-proposals.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { presentMembers } from "../room/present.ts";
import type { Member } from "../room/room.ts";

export function sweep(gateway: Gateway, tick: number): void {
  const { limits, options, rooms, metrics } = gateway;
  const isPingTick = isEvery(tick, limits.pingIntervalMs);
  const isHeartbeatTick = options.presenceHeartbeatMs > 0 && isEvery(tick, options.presenceHeartbeatMs);
  let members = 0;
  for (const [topic, room] of rooms) {
    members += room.members.size;
    for (const member of room.members.values()) {
      checkToken(gateway, member);
      if (member.socket.silentMs() > limits.pingTimeoutMs) member.socket.destroy();
      cutOffIfSlow(gateway, member);
      if (isPingTick) member.socket.ping();
    }
    // Of members that are still there, once for each participant.
    const beating = isHeartbeatTick ? presentMembers(room) : [];
    for (const member of beating) announcePresence(gateway, member, "heartbeat");
    if (room.members.size === 0 && room.pending === 0 && room.outbox.length === 0) rooms.delete(topic);
  }
  gateway.edge?.sweep(isPingTick);
  metrics.connections.set(members);
  metrics.rooms.set(rooms.size);
  gateway.rates.sweep(gateway.clock.monotonic());
  gateway.handshakes.sweep(gateway.clock.monotonic());
  gateway.participants
    .flush()
    .catch((error: unknown) =>
      gateway.log.error({ err: error }, "could not store which participants were in which rooms"),
    );
  recordExpired(gateway);
  metrics.proposalsWaiting.set(gateway.openProposals.size);
}

/** `tick` counts seconds. */
function isEvery(tick: number, intervalMs: number): boolean {
  return tick % Math.max(1, Math.round(intervalMs / 1000)) === 0;
}

/** Warns of a token's end in time, and acts on it. */
function checkToken(gateway: Gateway, member: Member): void {
  if (expelIfExpired(gateway, member)) return;
  const now = gateway.clock.now();
  const { principal, participant, protocol, socket } = member;
  if (member.wasWarned || principal.expiresAt - now > gateway.limits.tokenWarningMs) return;
  member.wasWarned = true;
  const exp = Math.floor(principal.expiresAt / 1000);
  socket.write(single(systemText({ protocol, to: participant.id }, now, { event: "token_expiring", exp })));
}
