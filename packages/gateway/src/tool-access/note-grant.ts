// A capability is given in a topic that checks calls: the audit hears of it, never of the token itself. [AC-12-1]
import { isObject, type JsonObject, readCapabilityToken } from "@mcpx/protocol";
import type { Handling } from "../handling.ts";

export function noteGrant({ gateway, member, envelope }: Handling, asker: string): void {
  const { result } = envelope.payload;
  if (!isObject(result) || typeof result.token !== "string") return;
  gateway.audit.record({
    action: "capability.grant",
    actor: member.participant.id,
    topic: member.room.topic,
    ...grantIn(result, asker),
  });
}

/** Unverified: it is what the owner says it has given. */
function grantIn({ token, encrypted }: JsonObject, asker: string): { subject: string; detail: JsonObject } {
  if (encrypted === true) return { subject: asker, detail: { encrypted: true } };
  try {
    const { jti, holder, tools, exp } = readCapabilityToken(token).claims;
    return { subject: holder, detail: { jti, tools, exp } };
  } catch {
    return { subject: asker, detail: { unreadable: true } };
  }
}
