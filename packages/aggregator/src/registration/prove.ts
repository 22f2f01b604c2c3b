// Who registers, by what its token, its certificate or its proof shows. Without one that names the segment nobody
// registers, except where the operator has set `development`. [AX-4.2-3] [AX-4.2-5] [AX-10.2-2] [B-REG-1]
import { type Identity, type Principal, principalKey } from "@mcpx/host";
import { type AuthScope, authScopes, McpxError, matchesAnyGlob, type Registration } from "@mcpx/protocol";
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
  const { principal, equipment } = credential;
  checkIssuer(principal, segment);
  const isGuest = credential.isLocal !== true && rule.isTrusted !== true;
  const registrant = registrantOf(credential);
  const proven = { isProven: true, registrant, scope: scopeOf(credential, rule), isGuest, equipment };
  const hasSegment = principal?.segment === segment;
  const isNamed = await hasAuthority(options, registration, credential);
  if (rule.authority !== undefined && !(isNamed && rule.authority === authority)) {
    throw new McpxError("authority_unproven", `the segment ${segment} is for dns:${rule.authority}`, {
      suggestion: `Send authority dns:${rule.authority} with an authority_proof or a client certificate for it`,
    });
  }
  // A name is bound to a segment by the operator, or by a token that names the segment.
  if (isNamed && (rule.authority === authority || hasSegment)) {
    return { identity: `dns:${authority}`, ...proven };
  }
  if (hasSegment) return { identity: `segment of ${principal.issuer}`, ...proven };
  if (principal?.segment !== undefined || rule.isDevelopment !== true) {
    throw unbound(segment, principal, isNamed ? authority : undefined);
  }
  const identity =
    principal === undefined
      ? `certificate ${credential.certificateNames.join()}`
      : `${principal.issuer} ${principal.id ?? principal.jti}`;
  // Whose segment is not proven gets no more than the operator has said it shall. [AX-4.2-3]
  return { identity, isProven: false, registrant, scope: rule.scope ?? "read", isGuest };
}

/** A text that is the same for all registrations of one principal. */
export function registrantOf({ principal, certificateNames }: Credential): string {
  return principal === undefined ? `certificate ${certificateNames.join()}` : principalKey(principal);
}

/** An issuer elsewhere registers what `issuers[].segments` covers, and without it nothing, whatever else is shown. */
function checkIssuer(principal: Principal | undefined, segment: string): void {
  const { segmentBounds, issuer } = principal ?? {};
  if (segmentBounds === undefined || matchesAnyGlob(segmentBounds, segment)) return;
  throw new McpxError("authority_unproven", `tokens of ${issuer} do not register the segment ${segment}`, {
    suggestion: `Add ${segment} to issuers[].segments of ${issuer}, in the aggregator's configuration`,
  });
}

/** What is missing, and the command or key that gives it. */
function unbound(segment: string, principal: Principal | undefined, name: string | undefined): McpxError {
  const suggestion = `Get a token with \`mcpx token --segment ${segment}\` at the aggregator`;
  if (name !== undefined) {
    return new McpxError("authority_unproven", `nothing binds dns:${name} to the segment ${segment}`, {
      suggestion: `Set subservers.${segment}.authority to "dns:${name}" in the aggregator's configuration`,
    });
  }
  if (principal === undefined) {
    const detail = `the certificate is not for the name that the registration claims (authority)`;
    return new McpxError("authority_unproven", detail, {
      suggestion: `Send the certificate's name as authority, and set subservers.${segment}.authority to it`,
    });
  }
  const { segment: other } = principal;
  const detail = other === undefined ? "the token names no segment" : `the token is for the segment ${other}`;
  return new McpxError("authority_unproven", detail, { suggestion });
}

/** A claim that is made and not proven is as if it were not made; one that is proven wrongly is refused. */
async function hasAuthority(
  { aggregatorId, identity, store }: ProveOptions,
  { authority, authorityProof }: Registration,
  credential: Credential,
): Promise<boolean> {
  if (authorityProof !== undefined) {
    if (authority === undefined) throw new McpxError("authority_unproven", "a proof without an authority");
    const { jti, expiresAt } = await identity.verifyAuthorityProof(authorityProof, {
      name: authority,
      audience: aggregatorId,
      asker: registrantOf(credential),
    });
    // Its id is unique only to the issuer that signed it.
    if (!(await store.useProof(`${authority} ${jti}`, expiresAt))) {
      throw new McpxError("authority_unproven", "the proof was used before");
    }
    return true;
  }
  return authority !== undefined && credential.certificateNames.includes(authority);
}

/** What the operator has set, else what the credential says, else no more than reading; never more than both allow. */
function scopeOf({ principal }: Credential, rule: SubserverRule): AuthScope {
  const granted = principal?.scope;
  if (rule.scope === undefined) return granted ?? "read";
  if (granted === undefined) return rule.scope;
  return authScopes.indexOf(granted) < authScopes.indexOf(rule.scope) ? granted : rule.scope;
}
