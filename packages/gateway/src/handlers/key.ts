// `system` `key`: a participant brings its public key; the gateway lists it in presence. [X1-4-3]
import { readPublicJwk, thumbprint } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { HandlerOutcome, Handling } from "../handling/handling.ts";
import { asserterOf } from "../room/known-participants.ts";

export async function handleKey({ gateway, member, envelope }: Handling): Promise<HandlerOutcome> {
  const key = readPublicJwk(envelope.payload.jwk);
  if (key === undefined)
    throw new McpxError("bad_system", "payload.jwk must be a public Ed25519 or P-256 key");
  const bound = member.principal.key;
  if (bound !== undefined && thumbprint(bound) !== thumbprint(key)) {
    throw new McpxError("key_mismatch", "your token is bound to another key");
  }
  await gateway.participants.bindKey(member.participant.id, key, asserterOf(member.principal));
  member.participant.key = key;
  return { type: "done", isPresenceNews: true };
}
