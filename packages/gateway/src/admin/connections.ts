// GET /admin/connections: who is connected, with what right. [X1-10.1-1]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isoTime } from "../delivery/system-envelope.ts";
import { adminOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";

export async function listConnections(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  await adminOf(gateway, request);
  const members = [...gateway.rooms.values()].flatMap((room) => [...room.members.values()]);
  const connections = members.map((member) => ({
    connectionId: member.connectionId,
    participantId: member.participant.id,
    topic: member.room.topic,
    privilege: member.level,
    protocol: member.protocol,
    connectedAt: isoTime(member.connectedAt),
    tokenExpiresAt: isoTime(member.principal.expiresAt),
    seq: member.position,
    queuedBytes: member.socket.queuedBytes,
  }));
  return { body: { connections } };
}
