// GET /admin/connections: who is connected, with what right. [X1-10.1-1]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isoTime } from "../delivery/system-envelope.ts";
import { adminOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";

interface Connection {
  connectionId: string;
  participantId: string;
  topic: string;
  privilege: string;
  protocol: string;
  connectedAt: string;
  tokenExpiresAt: string;
  seq: number;
  queuedBytes: number;
}

export async function listConnections(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  await adminOf(gateway, request);
  const elsewhere = (await gateway.neighbours?.askAll("connections", {})) as Connection[][] | undefined;
  return { body: { connections: [...connectionsHere(gateway), ...(elsewhere ?? []).flat()] } };
}

/** Of the rooms that are served by this gateway. */
export function connectionsHere(gateway: Gateway): Connection[] {
  const members = [...gateway.rooms.values()].flatMap((room) => [...room.members.values()]);
  return members.map((member) => ({
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
}
