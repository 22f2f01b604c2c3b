// What a token endpoint gives, in our form, and asking it for a fresh one. Only bearer tokens that fit a header.
import { McpxError } from "@mcpx/protocol";
import type { OAuthTokens as WireTokens } from "@modelcontextprotocol/client";
import { clientInformation } from "./client-identity.ts";
import type { Credential, OAuthTokens } from "./credential-store.ts";
import type { AuthorizationServer } from "./discover.ts";
import type { Party } from "./party.ts";

/** `asked` is what was granted if the endpoint does not say otherwise. */
export function readTokens(tokens: WireTokens, asked: string | undefined, now: number): OAuthTokens {
  const { access_token: access, refresh_token: refresh, token_type, expires_in, scope = asked } = tokens;
  if (token_type.toLowerCase() !== "bearer" || !/^[\x21-\x7e]+$/.test(access)) {
    throw new McpxError(
      "server_unauthorised",
      "the authorization server gave a token of a kind not known here",
    );
  }
  const expiresAt = expires_in === undefined ? undefined : now + expires_in * 1_000;
  return { access, refresh, scope, expiresAt };
}

/** The credential with fresh tokens. Rejects as the library does: the caller knows what each refusal means. */
export async function renewTokens(
  { library, fetch, config }: Party,
  { issuer, metadata }: AuthorizationServer,
  { credential, refresh, now }: { credential: Credential; refresh: string; now: number },
): Promise<Credential> {
  const { client, tokens, resource } = credential;
  const secret = config.clientId === client.id ? config.clientSecret : client.secret;
  const fresh = await library.refreshAuthorization(issuer, {
    metadata,
    clientInformation: clientInformation({ ...client, secret }),
    refreshToken: refresh,
    resource,
    fetchFn: fetch,
  });
  return { ...credential, tokens: readTokens(fresh, tokens?.scope, now) };
}
