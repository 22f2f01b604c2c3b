// An OpenID provider as a company has one: certified code on a port of its own, and people whom a test hires, moves and
// lets go.

import { generateKeyPairSync } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Adapter, type AdapterPayload, type Configuration, Provider } from "oidc-provider";

export interface OpenIdProvider {
  readonly issuer: string;
  /** By `sub`: what is said of each. */
  readonly people: Map<string, Record<string, unknown>>;
  /** Who sits at the browser. */
  current: string;
  /** The paths that were asked for. */
  readonly asked: string[];
  /** Those that are answered with 429 instead. */
  refuses(path: string): boolean;
  close(): Promise<void>;
}

export const clientId = "mcpx";
export const clientSecret = "a secret of the test, long enough for anybody";

export async function startOpenIdProvider(redirects: readonly string[]): Promise<OpenIdProvider> {
  const people: OpenIdProvider["people"] = new Map();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(issuer, settings(people, redirects));
  const answer = provider.callback();
  const state: OpenIdProvider = {
    issuer,
    people,
    current: "",
    asked: [],
    refuses: () => false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  server.on("request", (request, response) => {
    const path = request.url ?? "";
    state.asked.push(path);
    if (state.refuses(path)) {
      response.writeHead(429, { "content-type": "application/json", "retry-after": "1" });
      response.end(JSON.stringify({ error: "too_many_requests" }));
    } else if (request.url?.startsWith("/people/")) void logIn(provider, state.current, request, response);
    else answer(request, response);
  });
  return state;
}

async function logIn(provider: Provider, sub: string, request: IncomingMessage, response: ServerResponse) {
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: sub, clientId: String(params.client_id) });
  grant.addOIDCScope(String(params.scope));
  const result = { login: { accountId: sub, remember: false }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

function settings(people: OpenIdProvider["people"], redirects: readonly string[]): Configuration {
  const jwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return {
    adapter: memory(),
    jwks: { keys: [{ ...jwk, alg: "EdDSA", use: "sig" } as never] },
    enabledJWA: { idTokenSigningAlgValues: ["EdDSA"] },
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [...redirects],
        grant_types: ["authorization_code", "refresh_token"],
        id_token_signed_response_alg: "EdDSA",
      },
    ],
    claims: { openid: ["sub"], groups: ["groups", "email"] },
    scopes: ["openid", "offline_access", "groups"],
    conformIdTokenClaims: false,
    cookies: { keys: ["of the test"] },
    issueRefreshToken: async () => true,
    expiresWithSession: async () => false,
    rotateRefreshToken: true,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: async (_ctx, { uid }) => `/people/${uid}` },
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      Grant: 600,
      IdToken: 60,
      Interaction: 60,
      RefreshToken: 600,
      Session: 60,
    },
    loadExistingGrant: async ({ oidc }) => oidc.provider.Grant.find(oidc.result?.consent?.grantId ?? ""),
    async findAccount(_ctx, sub) {
      const claims = people.get(sub);
      return claims && { accountId: sub, claims: async () => ({ sub, ...claims }) };
    },
  };
}

function memory(): (kind: string) => Adapter {
  const kept = new Map<string, AdapterPayload>();
  return (kind) => ({
    upsert: async (id, payload) => void kept.set(`${kind} ${id}`, payload),
    find: async (id) => kept.get(`${kind} ${id}`),
    findByUid: async (uid) => [...kept.values()].find((one) => one.kind === kind && one.uid === uid),
    findByUserCode: async () => undefined,
    consume: async (id) => void Object.assign(kept.get(`${kind} ${id}`) ?? {}, { consumed: 1 }),
    destroy: async (id) => void kept.delete(`${kind} ${id}`),
    async revokeByGrantId(grant) {
      for (const [key, one] of kept) if (one.grantId === grant) kept.delete(key);
    },
  });
}
