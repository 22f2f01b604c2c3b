// `system` `refresh`: a new token for a live connection. It cannot change who is connected.
import { mayEnter, type PublicJwk, thumbprint } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { HandlerOutcome, Handling } from "../handling/handling.ts";
import { levelFor } from "../room/level-for.ts";

export async function handleRefresh({ gateway, member, envelope }: Handling): Promise<HandlerOutcome> {
  const { token } = envelope.payload;
  if (typeof token !== "string") throw new McpxError("bad_system", "payload.token must be a string");
  const principal = await gateway.identity.tokens.verify(token, member.participant.id);
  const { principal: before, participant, room } = member;
  // A token that names nobody refreshes only who came with one: in open mode.
  const isSameId = principal.id === participant.id || (principal.id ?? before.id) === undefined;
  if (!isSameId || principal.issuer !== before.issuer)
    throw new McpxError("identity_change", "the new token is for another participant");
  if (!isSameKey(principal.key, before.key)) {
    throw new McpxError("identity_change", "the new token is bound to another key");
  }
  if (!mayEnter(principal, room.topic))
    throw new McpxError("topic_forbidden", "the new token does not cover this topic");
  const level = levelFor(gateway, principal, participant.id, room.topic);
  // Nothing is refused any more: from here on the new token counts.
  member.principal = principal;
  member.wasWarned = false;
  return { type: "done", level, answer: { exp: Math.floor(principal.expiresAt / 1000) } };
}

function isSameKey(a: PublicJwk | undefined, b: PublicJwk | undefined): boolean {
  return a === undefined || b === undefined ? a === b : thumbprint(a) === thumbprint(b);
}
