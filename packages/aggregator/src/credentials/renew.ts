// Fresh tokens for a refresh token, without anybody being asked.
import { type AuthorizationServer, describeIssuer } from "./discover.ts";
import { faultOf, oauthCode } from "./fault.ts";
import { keep, type OAuthState } from "./oauth-state.ts";
import { renewTokens } from "./tokens.ts";

/** True with fresh tokens; false where there is nothing to renew or the authorization server does not take it any more. */
export async function renew(state: OAuthState, at?: AuthorizationServer): Promise<boolean> {
  const { held, clock } = state;
  const refresh = held?.tokens?.refresh;
  if (!held || refresh === undefined) return false;
  const party = await state.party();
  const issuer = at ?? (await describeIssuer(party, held.issuer));
  try {
    await keep(state, await renewTokens(party, issuer, { credential: held, refresh, now: clock.now() }));
  } catch (error) {
    const code = oauthCode(error);
    // An authorization server that is out of order says nothing about the token.
    if (code === undefined || code === "server_error" || code === "temporarily_unavailable") {
      throw faultOf("renewing the tokens", error);
    }
    const isForgotten = code === "invalid_client" || code === "unauthorized_client";
    await keep(state, isForgotten ? undefined : { ...held, tokens: undefined });
    return false;
  }
  state.renewedAt = clock.monotonic();
  return true;
}
