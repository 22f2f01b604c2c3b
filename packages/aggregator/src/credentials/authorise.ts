// One authorisation by a person: they go to the authorization server in their browser, come back to a listener of ours
// with a code, and the code becomes tokens. PKCE, state, issuer and resource are bound to one another all the way.
import { randomBytes } from "node:crypto";
import { McpxError } from "@mcpx/protocol";
import { clientIdentity, clientInformation } from "./client-identity.ts";
import type { Credential, OAuthClient } from "./credential-store.ts";
import type { Discovery } from "./discover.ts";
import { faultOf } from "./fault.ts";
import { type LoopbackRedirect, openLoopbackRedirect } from "./loopback-redirect.ts";
import type { Party } from "./party.ts";
import { readTokens } from "./tokens.ts";

export interface Authorisation {
  at: Discovery;
  /** What we have of this very issuer. */
  held: Credential | undefined;
  scope: string | undefined;
  /** Shows the address to a person, or opens it for them. */
  show(url: URL): Promise<void>;
  timeoutMs: number;
  now(): number;
}

export async function authorise(party: Party, authorisation: Authorisation): Promise<Credential> {
  const { at, held, scope, now } = authorisation;
  const redirect = await openLoopbackRedirect(party.config.redirectPort ?? portOf(held?.client.redirect));
  try {
    const client = await clientIdentity(party, { at, held, redirect: redirect.url, scope });
    const { code, iss, verifier } = await askPerson(party, authorisation, client, redirect);
    const tokens = await party.library.exchangeAuthorization(at.issuer, {
      metadata: at.metadata,
      clientInformation: clientInformation(client),
      authorizationCode: code,
      ...(iss !== undefined && { iss }),
      codeVerifier: verifier,
      redirectUri: redirect.url,
      resource: at.resource,
      fetchFn: party.fetch,
    });
    const { issuer, resource } = at;
    // A secret of the operator's stays in the configuration.
    const kept = party.config.clientId === undefined ? client : { id: client.id };
    return { issuer, url: party.url.href, resource, client: kept, tokens: readTokens(tokens, scope, now()) };
  } catch (error) {
    throw faultOf("the authorisation", error);
  } finally {
    await redirect.close();
  }
}

interface Answer {
  code: string;
  iss: string | undefined;
  verifier: string;
}

async function askPerson(
  { library }: Party,
  { at, scope, show, timeoutMs }: Authorisation,
  client: OAuthClient,
  redirect: LoopbackRedirect,
): Promise<Answer> {
  const state = randomBytes(32).toString("base64url");
  const { authorizationUrl, codeVerifier } = await library.startAuthorization(at.issuer, {
    metadata: at.metadata,
    clientInformation: clientInformation(client),
    redirectUrl: redirect.url,
    ...(scope !== undefined && { scope }),
    state,
    resource: at.resource,
  });
  const [params] = await Promise.all([redirect.answer(state, timeoutMs), show(authorizationUrl)]);
  const iss = params.get("iss") ?? undefined;
  // Before anything else of the answer is believed, its refusal included: RFC 9207.
  library.validateAuthorizationResponseIssuer({
    iss,
    expectedIssuer: at.issuer,
    issParameterSupported: at.metadata.authorization_response_iss_parameter_supported === true,
  });
  const code = params.get("code");
  if (code === null) throw refusal(params.get("error"));
  return { code, iss, verifier: codeVerifier };
}

function refusal(error: string | null): McpxError {
  const word = error !== null && /^[a-z_]{1,40}$/.test(error) ? error : "no code was given";
  return new McpxError("server_unauthorised", `the authorisation was refused: ${word}`);
}

function portOf(address: string | undefined): number {
  return Number(URL.parse(address ?? "")?.port ?? 0);
}
