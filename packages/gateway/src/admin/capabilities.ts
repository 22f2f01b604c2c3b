// GET /admin/capabilities and DELETE /admin/capabilities/{topic}/{issuer}/{id}: what was seen given in topics that check
// calls, and taking it back in its issuer's place. [AC-9-3] [AC-6-4]
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import {
  isId,
  McpxError,
  proofSkewMs,
  readRevocation,
  revocationNotice,
  revocationType,
} from "@mcpx/protocol";
import { announceSystem } from "../delivery/announce.ts";
import { isoTime } from "../delivery/system-envelope.ts";
import { topicOptions } from "../joining/open-room.ts";
import { adminOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";

export async function listCapabilities(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  await adminOf(gateway, request);
  const wanted = request.query.get("topic") ?? undefined;
  if (wanted !== undefined && !isId(wanted))
    throw new McpxError("bad_request", "topic must be the name of a topic");
  const { seen, revoked } = gateway.toolAccess;
  const now = gateway.clock.now();
  const inTopic = seen.list(now).filter(({ topic }) => wanted === undefined || topic === wanted);
  const isOver = await Promise.all(
    inTopic.map(({ topic, issuer, id }) => revoked.has(topic, issuer, id, now)),
  );
  const capabilities = inTopic
    .filter((_, index) => !isOver[index])
    .map(({ seenAtMs, untilMs, toolsLeftOut, ...capability }) => ({
      ...capability,
      ...(toolsLeftOut > 0 && { toolsLeftOut }),
      seenAt: isoTime(seenAtMs),
      expiresAt: isoTime(untilMs),
    }));
  return { body: { capabilities } };
}

export async function revokeCapability(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const by = await adminOf(gateway, request);
  const { topic, issuer, id } = namedIn(request);
  if (topicOptions(gateway, topic).toolAccess === "off") {
    throw new McpxError("bad_request", "this topic does not check calls: only its issuer can revoke it");
  }
  const { seen, revoked } = gateway.toolAccess;
  const now = gateway.clock.now();
  const known = seen.find(topic, issuer, id);
  // Never shorter than for one that is not known: the same id may be on another that lives longer.
  const until = Math.max(readRevocation({ ids: [id] }, now).untilMs, (known?.untilMs ?? 0) + proofSkewMs);
  await revoked.addForAdmin({ topic, issuer, ids: [id], until }, now);
  const detail = { count: 1, first: id };
  await gateway.audit.recordNow({ action: "capability.revoke", actor: by, subject: issuer, topic, detail });
  const room = gateway.rooms.get(topic);
  if (room !== undefined) {
    const notice = { event: revocationType, ...revocationNotice([id], until), issuer, by };
    announceSystem(gateway, room, notice);
  }
  return { body: { topic, issuer, id, revokedBy: by, revokedAt: isoTime(now), known: known !== undefined } };
}

function namedIn({ params }: HttpRequest): { topic: string; issuer: string; id: string } {
  const { topic, issuer, id } = params;
  if (!isId(topic) || !isId(issuer) || !isId(id)) {
    throw new McpxError("bad_request", "topic, issuer and id of the capability must be ids");
  }
  return { topic, issuer, id };
}
