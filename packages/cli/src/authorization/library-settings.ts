// How the library is set: code with PKCE, rotating refresh tokens, resource indicators, and every choice left to the
// person at our page. What it issues is exchanged for a token of the gateway's own type by `issue-token.ts`.
import { createPrivateKey } from "node:crypto";
import type { Identity } from "@mcpx/host";
import type * as Library from "oidc-provider";
import type { Configuration, JWK, KoaContextWithOIDC } from "oidc-provider";
import { redirectFault, redirectsMax } from "./redirects.ts";
import { resourceFault } from "./resources.ts";

export type OidcLibrary = typeof Library;

/** The one scope there is: what it opens is chosen by a person, in words of their own. */
export const scope = "mcp";
const accessTokenSeconds = 3_600;
const codeSeconds = 60;
const interactionSeconds = 900;
const sessionSeconds = 900;
/** The longest that anybody can allow. */
export const consentMsMax = 90 * 86_400_000;

export const paths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
  introspection: "/oauth/introspect",
  jwks: "/oauth/keys",
} as const;

/** The page on which a person decides. */
export const pagePath = "/console/authorize";

export interface LibraryParts {
  library: OidcLibrary;
  issuer: string;
  adapter: Configuration["adapter"];
  identity: Pick<Identity, "secret">;
  /** Whether a client may be described by a document at its id instead of registering. */
  hasDocuments: boolean;
  /** Fetches the document a client id points at. */
  fetch: NonNullable<Configuration["fetch"]>;
  /** Throws where this address has had too many fetched. */
  mayFetch(ctx: KoaContextWithOIDC): void;
}

export function librarySettings(parts: LibraryParts): Configuration {
  const { library, issuer, identity } = parts;
  const isSecure = issuer.startsWith("https:");
  const cookie = {
    httpOnly: true,
    sameSite: "lax",
    signed: true,
    secure: isSecure,
    overwrite: true,
  } as const;
  return {
    adapter: parts.adapter,
    fetch: parts.fetch,
    routes: { ...paths },
    scopes: ["openid", "offline_access", scope],
    responseTypes: ["code"],
    clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
    clientDefaults: {
      application_type: "native",
      grant_types: ["authorization_code", "refresh_token"],
      id_token_signed_response_alg: "EdDSA",
      response_types: ["code"],
    },
    enabledJWA: { idTokenSigningAlgValues: ["EdDSA"] },
    jwks: { keys: [idTokenKey(identity)] },
    cookies: {
      keys: [Buffer.from(identity.secret("authorization cookies")).toString("base64url")],
      names: cookieNames(issuer),
      long: cookie,
      short: cookie,
    },
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clockTolerance: 0,
    rotateRefreshToken: true,
    issueRefreshToken: async (_ctx, client) => client.grantTypeAllowed("refresh_token"),
    expiresWithSession: async () => false,
    clientBasedCORS: () => false,
    findAccount: async (_ctx, id) => ({ accountId: id, claims: async () => ({ sub: id }) }),
    // Never from a session: a person is asked for each sign-in.
    loadExistingGrant: async ({ oidc }) => {
      const id = oidc.result?.consent?.grantId;
      return id === undefined ? undefined : await oidc.provider.Grant.find(id);
    },
    interactions: {
      policy: [askPrompt(library)],
      url: async (_ctx, { uid }) => `${pagePath}/${uid}`,
    },
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: codeSeconds,
      Grant: consentMsMax / 1_000,
      IdToken: accessTokenSeconds,
      Interaction: interactionSeconds,
      RefreshToken: consentMsMax / 1_000,
      Session: sessionSeconds,
    },
    // The route shows the gateway's own page.
    async renderError(ctx, out) {
      ctx.type = "json";
      ctx.body = JSON.stringify(out);
    },
    features: features(parts),
  };
}

function features({ library, issuer, hasDocuments, mayFetch }: LibraryParts): Configuration["features"] {
  const { errors } = library;
  return {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    revocation: { enabled: true, allowedPolicy: isOwn },
    introspection: { enabled: true, allowedPolicy: isOwn },
    registration: { enabled: true, issueRegistrationAccessToken: false },
    clientIdMetadataDocument: {
      enabled: hasDocuments,
      ack: "draft-02",
      cacheDuration: { min: 300, max: 3_600 },
      async allowFetch(ctx) {
        mayFetch(ctx);
        return true;
      },
      async allowClient(_ctx, client) {
        const { redirectUris = [] } = client;
        return (
          redirectUris.length <= redirectsMax && redirectUris.every((one) => redirectFault(one) === undefined)
        );
      },
    },
    resourceIndicators: {
      enabled: true,
      defaultResource: async (_ctx, _client, oneOf) => oneOf ?? `${issuer}/mcp`,
      useGrantedResource: async () => true,
      async getResourceServerInfo(_ctx, resource) {
        const fault = resourceFault(issuer, resource);
        if (fault !== undefined) throw new errors.InvalidTarget(fault);
        return { scope, accessTokenFormat: "opaque", accessTokenTTL: accessTokenSeconds };
      },
    },
  };
}

/** A client looks at and revokes its own tokens, nobody else's. */
async function isOwn(
  _ctx: KoaContextWithOIDC,
  client: { clientId: string },
  token: { clientId?: string | undefined },
): Promise<boolean> {
  return token.clientId === client.clientId;
}

function askPrompt({ interactionPolicy }: OidcLibrary) {
  const { Check, Prompt } = interactionPolicy;
  const isUndecided = ({ oidc }: KoaContextWithOIDC) => oidc.result?.consent?.grantId === undefined;
  return new Prompt(
    { name: "consent", requestable: true },
    new Check("undecided", "somebody has to allow it", "consent_required", isUndecided),
  );
}

/** Cookies are shared by all ports of a machine. */
function cookieNames(issuer: string): { session: string; interaction: string; resume: string } {
  const { port } = new URL(issuer);
  const name = (what: string) => `mcpx-authorize-${what}${port === "" ? "" : `-${port}`}`;
  return { session: name("session"), interaction: name("asked"), resume: name("back") };
}

/** Only for ID tokens, which open nothing here: a key of its own, the same at every start. */
function idTokenKey({ secret }: Pick<Identity, "secret">): JWK {
  // RFC 8410: what stands before the 32 bytes of an Ed25519 key.
  const prefix = Buffer.from("302e020100300506032b657004220420", "hex");
  const der = Buffer.concat([prefix, secret("authorization id token")]);
  const jwk = createPrivateKey({ key: der, format: "der", type: "pkcs8" }).export({ format: "jwk" });
  return { ...jwk, alg: "EdDSA", use: "sig" } as JWK;
}
