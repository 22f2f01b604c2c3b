// A real authorization server, small: it registers clients, lets everybody in who comes by, checks PKCE, resource and
// the client's secret, and turns refresh tokens over. What it does wrong, it does because a test told it so.
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { listen, type Site } from "./site.ts";

export interface Behaviour {
  /** Merged into the metadata; undefined takes a member out. */
  metadata?: Record<string, unknown>;
  /** `iss` in the answer: the issuer unless told otherwise. */
  iss?: string | undefined;
  /** Parameters of the answer instead of a code. */
  answer?: Record<string, string>;
  /** Instead of what was asked for. */
  grants?: string;
  expiresInS?: number;
  /** How the token endpoint answers instead. */
  tokenFailure?: { status: number; body: string };
  /** Refreshed tokens are given only then. */
  refreshesAfter?: Promise<void>;
  /** Known from the beginning. */
  clients?: Client[];
}

interface Client {
  client_id: string;
  client_secret?: string;
  token_endpoint_auth_method?: string;
  redirect_uris?: string[];
}

interface TokenRequest {
  grant: string;
  clientId: string;
  method: string;
  resource: string | null;
}

export interface AuthorizationServer {
  readonly issuer: string;
  behaviour: Behaviour;
  readonly registrations: Record<string, unknown>[];
  readonly authorizations: URLSearchParams[];
  readonly tokenRequests: TokenRequest[];
  /** Scopes by access token: what is in here is valid. */
  readonly tokens: Map<string, string>;
  /** Whose an access token is: what the cookie `account` said in the browser that authorised it. */
  readonly accounts: Map<string, string>;
  /** No refresh token given so far is taken any more. */
  revoke(): void;
  stop(): Promise<void>;
}

interface Grant {
  clientId: string;
  account: string;
  scope: string;
  challenge: string;
  redirect: string;
}

export async function startAuthorizationServer(behaviour: Behaviour = {}): Promise<AuthorizationServer> {
  const clients = new Map((behaviour.clients ?? []).map((client) => [client.client_id, client]));
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, Grant>();
  const site: Site = await listen({
    "GET /.well-known/oauth-authorization-server": () => ({ status: 200, body: describe() }),
    "POST /register": async (request) => register(JSON.parse(await textOf(request))),
    "GET /authorize": ({ headers }, url) => answer(url.searchParams, headers.cookie),
    "POST /token": async (request) => token(request, new URLSearchParams(await textOf(request))),
  });
  const self: AuthorizationServer = {
    issuer: site.url,
    behaviour,
    registrations: [],
    authorizations: [],
    tokenRequests: [],
    tokens: new Map(),
    accounts: new Map(),
    revoke: () => refreshTokens.clear(),
    stop: site.stop,
  };
  return self;

  function describe(): object {
    return {
      issuer: self.issuer,
      authorization_endpoint: `${self.issuer}/authorize`,
      token_endpoint: `${self.issuer}/token`,
      registration_endpoint: `${self.issuer}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_basic", "client_secret_post"],
      authorization_response_iss_parameter_supported: true,
      ...self.behaviour.metadata,
    };
  }

  function register(wanted: Record<string, unknown>) {
    self.registrations.push(wanted);
    const method = String(wanted.token_endpoint_auth_method);
    const client: Client = {
      client_id: `client-${randomUUID()}`,
      token_endpoint_auth_method: method,
      ...(method !== "none" && { client_secret: `secret-${randomUUID()}` }),
      redirect_uris: wanted.redirect_uris as string[],
    };
    clients.set(client.client_id, client);
    return { status: 201, body: client };
  }

  function answer(params: URLSearchParams, cookie = "") {
    self.authorizations.push(params);
    const redirect = params.get("redirect_uri") ?? "";
    const clientId = params.get("client_id") ?? "";
    const described = URL.canParse(clientId) ? { client_id: clientId } : undefined;
    const known: Client | undefined = clients.get(clientId) ?? described;
    if (!known || (known.redirect_uris && !known.redirect_uris.includes(redirect)))
      return { status: 400, body: {} };
    const code = `code-${randomUUID()}`;
    codes.set(code, {
      clientId,
      account: /(?:^|; )account=(\w+)/.exec(cookie)?.[1] ?? "",
      scope: self.behaviour.grants ?? params.get("scope") ?? "",
      challenge: params.get("code_challenge") ?? "",
      redirect,
    });
    const location = new URL(redirect);
    const iss = "iss" in self.behaviour ? self.behaviour.iss : self.issuer;
    const said = { ...(self.behaviour.answer ?? { code }), ...(iss !== undefined && { iss }) };
    for (const [name, value] of Object.entries({ state: params.get("state") ?? "", ...said })) {
      location.searchParams.set(name, value);
    }
    return { status: 302, body: {}, headers: { location: location.href } };
  }

  async function token(request: IncomingMessage, form: URLSearchParams) {
    const { clientId, secret, method } = presented(request, form);
    const grant = form.get("grant_type") ?? "";
    self.tokenRequests.push({ grant, clientId, method, resource: form.get("resource") });
    const { tokenFailure } = self.behaviour;
    if (tokenFailure)
      return { status: tokenFailure.status, body: tokenFailure.body.replace("$FORM", form.toString()) };
    if (clients.get(clientId)?.client_secret !== secret)
      return { status: 401, body: { error: "invalid_client" } };
    const held = grant === "refresh_token" ? refreshTokens : codes;
    const presentedGrant = form.get(grant === "refresh_token" ? "refresh_token" : "code") ?? "";
    const found = held.get(presentedGrant);
    held.delete(presentedGrant);
    const proven =
      grant === "refresh_token" ||
      (sha256(form.get("code_verifier") ?? "") === found?.challenge &&
        form.get("redirect_uri") === found.redirect);
    if (!found || found.clientId !== clientId || !proven)
      return { status: 400, body: { error: "invalid_grant" } };
    if (grant === "refresh_token") await self.behaviour.refreshesAfter;
    return give(found);
  }

  function give(grant: Grant) {
    const access = `access-${randomUUID()}`;
    const refresh = `refresh-${randomUUID()}`;
    self.tokens.set(access, grant.scope);
    self.accounts.set(access, grant.account);
    refreshTokens.set(refresh, grant);
    const body = {
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: self.behaviour.expiresInS ?? 3_600,
      ...(grant.scope && { scope: grant.scope }),
    };
    return { status: 200, body };
  }
}

function presented(request: IncomingMessage, form: URLSearchParams) {
  const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  if (basic !== undefined) {
    const [clientId = "", secret] = Buffer.from(basic, "base64").toString().split(":");
    return { clientId, secret, method: "client_secret_basic" };
  }
  const secret = form.get("client_secret") ?? undefined;
  return { clientId: form.get("client_id") ?? "", secret, method: secret ? "client_secret_post" : "none" };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
}
