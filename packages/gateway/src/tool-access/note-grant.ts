// A capability is given in a topic that checks calls: the audit and admins are told, never the token itself.
// [AC-12-1]
import { type CapabilityClaims, isObject, type JsonObject, readCapabilityToken } from "@mcpx/protocol";
import type { Handling } from "../handling/handling.ts";

export function noteGrant({ gateway, member, envelope }: Handling, asker: string): void {
  const { result } = envelope.payload;
  if (!isObject(result) || typeof result.token !== "string") return;
  const { topic } = member.room;
  const actor = member.participant.id;
  const claims = result.encrypted === true ? undefined : claimsIn(result.token);
  gateway.audit.record({ action: "capability.grant", actor, topic, ...recordOf(claims, result, asker) });
  // Nobody gives in another's name.
  if (claims?.iss === actor && claims.topic === topic) {
    gateway.toolAccess.seen.note(claims, gateway.clock.now());
  }
}

function recordOf(
  claims: CapabilityClaims | undefined,
  { encrypted }: JsonObject,
  asker: string,
): { subject: string; detail: JsonObject } {
  if (claims === undefined) {
    return { subject: asker, detail: encrypted === true ? { encrypted } : { unreadable: true } };
  }
  const { jti, holder, tools, exp } = claims;
  return { subject: holder, detail: { jti, tools, exp } };
}

/** Unverified: it is what the owner says it has given. */
function claimsIn(token: string): CapabilityClaims | undefined {
  try {
    return readCapabilityToken(token).claims;
  } catch {
    return undefined;
  }
}
