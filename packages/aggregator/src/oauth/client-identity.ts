// Who we are at an authorization server: a client the operator registered, an address that describes us, a registration
// we already have there, or a new one; in this order.
import { McpxError } from "@mcpx/protocol";
import type { OAuthClientInformationMixed, OAuthClientMetadata } from "@modelcontextprotocol/client";
import type { Credential, OAuthClient } from "./credential-store.ts";
import type { AuthorizationServer } from "./discover.ts";
import { faultOf } from "./fault.ts";
import type { Party } from "./party.ts";

export interface IdentityWish {
  at: AuthorizationServer;
  /** What we have of this very issuer. */
  held: Credential | undefined;
  redirect: string;
  scope: string | undefined;
}

export async function clientIdentity(
  party: Party,
  { at, held, redirect, scope }: IdentityWish,
): Promise<OAuthClient> {
  const { clientId, clientSecret, clientMetadataUrl } = party.config;
  if (clientId !== undefined) return { id: clientId, secret: clientSecret };
  if (clientMetadataUrl !== undefined && at.metadata.client_id_metadata_document_supported === true) {
    return { id: clientMetadataUrl };
  }
  if (held?.client.redirect === redirect) return held.client;
  if (at.metadata.registration_endpoint === undefined) {
    throw new McpxError(
      "server_unauthorised",
      "the authorization server accepts only clients that are registered with it",
      {
        suggestion: "Register mcpx there and set `clientId` for the server",
      },
    );
  }
  return register(party, at, redirect, scope);
}

/** How the library wants it. */
export function clientInformation({ id, secret, method }: OAuthClient): OAuthClientInformationMixed {
  return {
    client_id: id,
    ...(secret !== undefined && { client_secret: secret }),
    ...(method !== undefined && { token_endpoint_auth_method: method }),
  };
}

async function register(
  { library, fetch }: Party,
  { issuer, metadata }: AuthorizationServer,
  redirect: string,
  scope: string | undefined,
): Promise<OAuthClient> {
  try {
    const registered = await library.registerClient(issuer, {
      metadata,
      clientMetadata: describeClient(redirect, metadata.token_endpoint_auth_methods_supported),
      ...(scope !== undefined && { scope }),
      fetchFn: fetch,
    });
    const { client_id: id, client_secret: secret, token_endpoint_auth_method: method } = registered;
    return { id, secret, method, redirect };
  } catch (error) {
    throw faultOf("the registration", error);
  }
}

/** We live on somebody's machine and can keep no secret from its owner: a public client, where that is possible. */
function describeClient(redirect: string, methods: readonly string[] = ["none"]): OAuthClientMetadata {
  const known = ["none", "client_secret_basic", "client_secret_post"];
  return {
    client_name: "mcpx",
    redirect_uris: [redirect],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    // Where the browser comes back to this very machine; else we are a site.
    application_type: /^http:/.test(redirect) ? "native" : "web",
    token_endpoint_auth_method: known.find((method) => methods.includes(method)) ?? "none",
  };
}
