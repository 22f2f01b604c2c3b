// What the gateway tells a whole room. Not logged, no seq. [X0-4.2-1]
import type { Protocol } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import { listed, type Member, type Room } from "../room/room.ts";
import { single } from "./batch.ts";
import { presenceText, systemText } from "./system-envelope.ts";

export function announcePresence(
  gateway: Gateway,
  member: Member,
  event: "join" | "leave" | "heartbeat",
  more: { reason?: string } = {},
): void {
  const payload = { event, participant: listed(member), ...more };
  const now = gateway.clock.now();
  toAll(
    member.room,
    (protocol) => presenceText(protocol, now, payload),
    (other) => event !== "join" || other !== member,
  );
}

export function announceSystem(
  gateway: Gateway,
  room: Room,
  payload: { event: string; [key: string]: unknown },
  concerns: (member: Member) => boolean = () => true,
): void {
  const now = gateway.clock.now();
  toAll(room, (protocol) => systemText({ protocol }, now, payload), concerns);
}

/** One rendering per protocol, shared by all who speak it. */
function toAll(
  room: Room,
  render: (protocol: Protocol) => string,
  concerns: (member: Member) => boolean,
): void {
  const rendered = new Map<Protocol, ReturnType<typeof single>>();
  for (const member of room.members.values()) {
    if (!concerns(member)) continue;
    const slices = rendered.get(member.protocol) ?? single(render(member.protocol));
    rendered.set(member.protocol, slices);
    member.socket.write(slices);
  }
}
