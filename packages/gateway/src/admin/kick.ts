// DELETE /admin/participants/{id}: out at once, and no way back in until an admin sets a level again.
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { isoTime } from "../delivery/system-envelope.ts";
import { adminOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { decideLevel } from "./decide-level.ts";
import { subjectOf } from "./subject.ts";

export async function kick(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const by = await adminOf(gateway, request);
  const { id, topic } = await subjectOf(gateway, request);
  const at = gateway.clock.now();
  const connections = await decideLevel(gateway, { verb: "kick", id, topic, level: "none", by, at });
  return { body: { participantId: id, kickedBy: by, kickedAt: isoTime(at), connections, topic } };
}
