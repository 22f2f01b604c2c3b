// DELETE /admin/participants/{id}: out at once, and no way back in until an admin sets a level again.
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { closeCodes } from "@mcpx/protocol";
import { announceSystem } from "../delivery/announce.ts";
import { expel } from "../delivery/expel.ts";
import { isoTime } from "../delivery/system-envelope.ts";
import { adminOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { liveMembers, onePerRoom, subjectOf } from "./subject.ts";

export async function kick(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const by = await adminOf(gateway, request);
  const { id, topic } = subjectOf(gateway, request);
  const now = gateway.clock.now();
  gateway.levelDecisions.decide(id, topic, "none", by, now);
  gateway.audit.recordNow({ action: "participant.kick", actor: by, subject: id, topic });
  const members = liveMembers(gateway, id, topic);
  for (const member of members) expel(gateway, member, closeCodes.forbidden, "kicked");
  for (const member of onePerRoom(members)) {
    announceSystem(gateway, member.room, {
      event: "privilege_changed",
      participant: id,
      old: member.level,
      new: "none",
      by,
    });
  }
  return {
    body: { participantId: id, kickedBy: by, kickedAt: isoTime(now), connections: members.length, topic },
  };
}
