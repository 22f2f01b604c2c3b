// Fresh tokens for a refresh token, without anybody being asked.
import type { Credential } from "./credential-store.ts";
import { type AuthorizationServer, describeIssuer } from "./discover.ts";
import { faultOf, oauthCode } from "./fault.ts";
import { keep, type OAuthState } from "./oauth-state.ts";
import { renewTokens } from "./tokens.ts";

/** True with fresh tokens; false where there is nothing to renew or the authorization server no longer accepts it. */
export function renew(state: OAuthState, at?: AuthorizationServer): Promise<boolean> {
  state.renewing ??= renewOnce(state, at).finally(() => {
    state.renewing = undefined;
  });
  return state.renewing;
}

async function renewOnce(state: OAuthState, at: AuthorizationServer | undefined): Promise<boolean> {
  const { held, store, key, clock } = state;
  const refresh = held?.tokens?.refresh;
  if (!held || refresh === undefined) return false;
  return store.inTurn(key, async (stored) => {
    if (!isReplaced(held, stored)) return renewHeld(state, { held, refresh }, at);
    // Another gateway was quicker: its tokens are ours.
    if (state.held === held) state.held = stored;
    state.renewedAt = clock.monotonic();
    return true;
  });
}

/** Tokens of the same client at the same place, with another refresh token. */
function isReplaced(held: Credential, stored: Credential | undefined): stored is Credential {
  if (stored?.tokens === undefined || stored.tokens.refresh === held.tokens?.refresh) return false;
  return stored.url === held.url && stored.issuer === held.issuer && stored.client.id === held.client.id;
}

async function renewHeld(
  state: OAuthState,
  { held, refresh }: { held: Credential; refresh: string },
  at: AuthorizationServer | undefined,
): Promise<boolean> {
  const { clock } = state;
  const party = await state.party();
  const issuer = at ?? (await describeIssuer(party, held.issuer));
  let renewed: Credential;
  try {
    renewed = await renewTokens(party, issuer, { credential: held, refresh, now: clock.now() });
  } catch (error) {
    const code = oauthCode(error);
    // An authorization server that is out of order says nothing about the token.
    if (code === undefined || code === "server_error" || code === "temporarily_unavailable") {
      throw faultOf("renewing the tokens", error);
    }
    const isForgotten = code === "invalid_client" || code === "unauthorized_client";
    if (state.held === held) await keep(state, isForgotten ? undefined : { ...held, tokens: undefined });
    return false;
  }
  // A person may have authorised more meanwhile.
  if (state.held === held) await keep(state, renewed);
  state.renewedAt = clock.monotonic();
  return true;
}
