// Who somebody that registers is for the tree: what its token, its certificate or its proof shows, and what it only
// says. [AX-4.2-3] [AX-4.2-5] [AX-10.2-2]
import type { Identity } from "@mcpx/host";
import { type AuthScope, authScopes, McpxError, type Registration } from "@mcpx/protocol";
import type { Credential, Standing, SubserverRule } from "./registrar.ts";
import type { RegistrationStore } from "./registration-store.ts";

export interface ProveOptions {
  aggregatorId: string;
  identity: Pick<Identity, "verifyAuthorityProof">;
  store: Pick<RegistrationStore, "useProof">;
}

export async function prove(
  options: ProveOptions,
  registration: Registration,
  credential: Credential,
  rule: SubserverRule,
): Promise<Standing> {
  const { segment, authority } = registration;
  const { principal } = credential;
  const scope = scopeOf(credential, rule);
  if (await hasAuthority(options, registration, credential)) {
    checkRule(rule, authority);
    return { identity: `dns:${authority}`, isProven: true, scope };
  }
  checkRule(rule, undefined);
  if (principal?.segment === segment) {
    return { identity: `segment of ${principal.issuer}`, isProven: true, scope };
  }
  if (principal === undefined)
    throw new McpxError("authority_unproven", "the certificate is for another name");
  // A token for one segment is none for another.
  if (principal.segment !== undefined) {
    throw new McpxError("authority_unproven", `the token is for the segment ${principal.segment}`);
  }
  const identity = `${principal.issuer} ${principal.id ?? principal.jti}`;
  // Whose segment is not proven gets no more than the operator has said it shall. [AX-4.2-3]
  return { identity, isProven: false, scope: rule.scope ?? "read" };
}

function checkRule({ authority }: SubserverRule, proven: string | undefined): void {
  if (authority === undefined || authority === proven) return;
  throw new McpxError("authority_unproven", `the segment is for dns:${authority}`);
}

/** A claim that is made and not proven is as if it were not made; one that is proven wrongly is refused. */
async function hasAuthority(
  { aggregatorId, identity, store }: ProveOptions,
  { authority, authorityProof }: Registration,
  { certificateNames }: Credential,
): Promise<boolean> {
  if (authorityProof !== undefined) {
    if (authority === undefined) throw new McpxError("authority_unproven", "a proof without an authority");
    const { jti, expiresAt } = await identity.verifyAuthorityProof(authorityProof, {
      name: authority,
      audience: aggregatorId,
    });
    // Its id is unique only to whoever signed it.
    if (!(await store.useProof(`${authority} ${jti}`, expiresAt))) {
      throw new McpxError("authority_unproven", "the proof was used before");
    }
    return true;
  }
  return authority !== undefined && certificateNames.includes(authority);
}

/** What the operator has set, else what the credential says, else no more than reading; never more than both allow. */
function scopeOf({ principal }: Credential, rule: SubserverRule): AuthScope {
  const granted = principal?.scope;
  if (rule.scope === undefined) return granted ?? "read";
  if (granted === undefined) return rule.scope;
  return authScopes.indexOf(granted) < authScopes.indexOf(rule.scope) ? granted : rule.scope;
}
