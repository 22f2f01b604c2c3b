// One authorisation in two halves: the address a person is sent to, and tokens for the answer they come back with. PKCE,
// state, issuer and resource are bound to one another all the way; how the person gets there and back is for others.
import { randomBytes } from "node:crypto";
import { McpxError } from "@mcpx/protocol";
import { clientIdentity, clientInformation } from "./client-identity.ts";
import type { Credential, OAuthClient } from "./credential-store.ts";
import type { Discovery } from "./discover.ts";
import { faultOf } from "./fault.ts";
import type { Party } from "./party.ts";
import { readTokens } from "./tokens.ts";

export interface AuthorisationWish {
  at: Discovery;
  /** What we have of this very issuer. */
  held: Credential | undefined;
  scope: string | undefined;
  /** Where the authorization server sends the browser back to. */
  redirect: string;
}

export interface BegunAuthorisation {
  /** To be opened in the person's browser. */
  readonly url: URL;
  readonly state: string;
  readonly client: OAuthClient;
  /** `params` are those of the answer; their state has been found to be ours. */
  finish(params: URLSearchParams, now: number): Promise<Credential>;
}

const step = "the authorisation";

export async function beginAuthorisation(party: Party, wish: AuthorisationWish): Promise<BegunAuthorisation> {
  const { at, scope, redirect } = wish;
  const { library } = party;
  try {
    const client = await clientIdentity(party, wish);
    const state = randomBytes(32).toString("base64url");
    const { authorizationUrl, codeVerifier } = await library.startAuthorization(at.issuer, {
      metadata: at.metadata,
      clientInformation: clientInformation(client),
      redirectUrl: redirect,
      ...(scope !== undefined && { scope }),
      state,
      resource: at.resource,
    });
    const finish: BegunAuthorisation["finish"] = async (params, now) => {
      try {
        return await exchange(party, { ...wish, client, verifier: codeVerifier }, params, now);
      } catch (error) {
        throw faultOf(step, error);
      }
    };
    return { url: authorizationUrl, state, client, finish };
  } catch (error) {
    throw faultOf(step, error);
  }
}

interface Exchange extends AuthorisationWish {
  client: OAuthClient;
  verifier: string;
}

async function exchange(
  { library, fetch, url, config }: Party,
  { at, scope, redirect, client, verifier }: Exchange,
  params: URLSearchParams,
  now: number,
): Promise<Credential> {
  const { issuer, metadata, resource } = at;
  const iss = params.get("iss") ?? undefined;
  // Before anything else of the answer is believed, its refusal included: RFC 9207.
  library.validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: issuer,
    issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
  });
  const code = params.get("code");
  if (code === null) throw refusal(params.get("error"));
  const tokens = await library.exchangeAuthorization(issuer, {
    metadata,
    clientInformation: clientInformation(client),
    authorizationCode: code,
    ...(iss !== undefined && { iss }),
    codeVerifier: verifier,
    redirectUri: redirect,
    resource,
    fetchFn: fetch,
  });
  // A secret of the operator's stays in the configuration.
  const kept = config.clientId === undefined ? client : { id: client.id };
  return { issuer, url: url.href, resource, client: kept, tokens: readTokens(tokens, scope, now) };
}

function refusal(error: string | null): McpxError {
  const word =
    error !== null && /^[a-z_]{1,40}$/.test(error) ? error : "the authorization server sent no code";
  return new McpxError("server_unauthorised", `the authorisation was refused: ${word}`);
}
