// `system` `key`: a participant brings its public key; the gateway lists it in presence. [X1-4-3]
import { readPublicJwk } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Handling } from "../handling.ts";
import type { Outcome } from "../outcome.ts";

export function handleKey({ gateway, member, envelope }: Handling): Outcome {
  const key = readPublicJwk(envelope.payload.jwk);
  if (key === undefined)
    throw new McpxError("bad_system", "payload.jwk must be a public Ed25519 or P-256 key");
  gateway.participants.bindKey(member.participant.id, key);
  member.participant.key = key;
  return { type: "done", isPresenceNews: true };
}
