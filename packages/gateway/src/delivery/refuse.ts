// The answer to what is not accepted: an error envelope, an audit record, and a close for those who keep at it.
import {
  closeCodes,
  errorTable,
  isAccessReason,
  isMcpxError,
  McpxError,
  type Readable,
  readable,
  type Scanned,
} from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import type { Member } from "../room/room.ts";
import { announceSystem } from "./announce.ts";
import { single } from "./batch.ts";
import { expel } from "./leave.ts";
import { blockedText, errorText } from "./system-envelope.ts";

const unreadable: Readable = { envelopeId: undefined, requestId: undefined, isMcp: false };

const faultWindowMs = 60_000;

export function refuse(gateway: Gateway, member: Member, error: unknown, scanned: Scanned | undefined): void {
  const shown = isMcpxError(error) ? error : new McpxError("internal", "the gateway failed on this envelope");
  const { participant, room, protocol, socket } = member;
  const about = { topic: room.topic, id: participant.id, reason: shown.code };
  if (shown.code === "internal") gateway.log.error({ ...about, err: error }, "could not handle an envelope");
  else gateway.log.debug(about, "envelope refused");
  gateway.metrics.refused.inc({ reason: shown.code });

  const refused = scanned === undefined ? unreadable : readable(scanned, gateway.limits);
  const addressing = { protocol, to: participant.id, correlationId: refused.envelopeId };
  socket.write(single(errorText(addressing, gateway.clock.now(), shown, refused)));
  // In addition: the sender that waits for an answer has got one. [AC-6-2]
  if (isAccessReason(shown.code)) socket.write(single(blockedText(addressing, gateway.clock.now(), shown)));

  if (errorTable[shown.code].fault === "gateway" || member.hasLeft) return;
  gateway.audit.record({ action: "refused", reason: shown.code, actor: participant.id, topic: room.topic });
  if (shown.code === "privilege_violation" && gateway.options.announceViolations) {
    announceSystem(gateway, room, { event: "violation", participant: participant.id, reason: shown.code });
  }
  if (shown.code === "unsupported_protocol" && !member.isProtocolFixed) {
    // Its very first envelope: this client speaks another language. [X0-10-2]
    expel(gateway, member, closeCodes.unsupportedProtocol, shown.code);
  }
  countFault(gateway, member);
}

/** [X0-9-5] */
function countFault(gateway: Gateway, member: Member): void {
  const { limits, clock, audit } = gateway;
  const now = clock.monotonic();
  if (now - member.faults.sinceMs > faultWindowMs) member.faults = { count: 0, sinceMs: now };
  member.faults.count += 1;
  if (member.faults.count < limits.faultsPerMinute) return;
  const { participant, room } = member;
  audit.record({ action: "closed", reason: "too_many_faults", actor: participant.id, topic: room.topic });
  expel(gateway, member, closeCodes.abuse, "too_many_faults");
}
