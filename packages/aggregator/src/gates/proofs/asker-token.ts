// What a call was asked for with, looked at again before it is sent: a token that was revoked, has ended or has
// become narrower since sends nothing, even when it was approved. [B-SIGN-1]
import { McpxError, withoutRoot } from "@mcpx/protocol";
import { mayUse } from "../../catalogue/authorise.ts";
import type { Caller } from "../../mcp/exchange.ts";
import type { TreeState } from "../../servers/tree-state.ts";
import type { Gatekeeper } from "../gatekeeper.ts";
import type { AskerToken, Gate } from "../store/gate-store.ts";

export function tokenOf({ principal, profile }: Caller): AskerToken {
  const { jti, tools, toolBounds, issuedAt, expiresAt } = principal;
  return {
    jti,
    tools,
    ...(issuedAt !== undefined && { issuedAt }),
    ...(toolBounds && { toolBounds }),
    ...(profile && { profile: profile.name }),
    ...(Number.isFinite(expiresAt) && { expiresAt }),
  };
}

/** Throws `token_revoked`, `token_expired` or `unknown_tool`. */
export function checkToken(
  state: TreeState,
  { isRevoked }: Pick<Gatekeeper, "isRevoked">,
  { tool, principal, token }: Gate,
): void {
  if (token === undefined) throw new McpxError("asker_unsigned");
  const { clock, profiles, rootSegment } = state;
  const { jti, expiresAt } = token;
  if (isRevoked?.(jti) === true) throw new McpxError("token_revoked", `the token of ${principal}`);
  if (expiresAt !== undefined && expiresAt <= clock.now()) {
    throw new McpxError("token_expired", `the token of ${principal}`);
  }
  const profile = token.profile === undefined ? undefined : (profiles.get(token.profile) ?? nothing);
  if (mayUse(state, { principal: token, profile }, withoutRoot(rootSegment, tool))) return;
  throw new McpxError("unknown_tool", `${principal} may no longer use ${tool}`);
}

/** A profile that is no longer there shows nothing. */
const nothing = { name: "", tools: [] };
