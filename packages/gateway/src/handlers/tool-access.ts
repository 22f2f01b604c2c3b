// `system` `tool_access_policy` and `capability_revoked`: published for everybody's guards to read. Where the topic
// checks calls, the gateway reads them too. [X1-4-3] [AC-6-1] [AC-6-4]
import { isObject, McpxError, policyType, readPolicy, readRevocation } from "@mcpx/protocol";
import { type HandlerOutcome, type Handling, publish } from "../handling/handling.ts";

export function handleToolAccess(handling: Handling): HandlerOutcome | Promise<HandlerOutcome> {
  const { member, envelope } = handling;
  const { type, policy } = envelope.payload;
  if (type === policyType && !isObject(policy)) {
    throw new McpxError("bad_system", "payload.policy must be an object");
  }
  if (member.room.toolAccess === "off") return publish;
  if (type !== policyType) return keepRevocation(handling);
  declarePolicy(handling);
  return publish;
}

function declarePolicy({ gateway, member, envelope }: Handling): void {
  const { room, participant } = member;
  gateway.toolAccess.declare(room, participant.id, readPolicy(envelope.payload.policy));
}

/** Stored before it is published: a participant that has seen the notice can rely on it. */
async function keepRevocation({ gateway, member, envelope }: Handling): Promise<HandlerOutcome> {
  const { room, participant } = member;
  const now = gateway.clock.now();
  const { ids, untilMs } = readRevocation(envelope.payload, now);
  gateway.rates.chargeCapabilityRequest(participant.id, gateway.clock.monotonic());
  const revoked = { topic: room.topic, issuer: participant.id, ids, until: untilMs };
  await gateway.toolAccess.revoked.add(revoked, now);
  const detail = { count: ids.length, first: ids[0] };
  gateway.audit.record({ action: "capability.revoke", actor: participant.id, topic: room.topic, detail });
  return publish;
}
