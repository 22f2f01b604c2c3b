// A client that has nothing but the address: how it finds out where to sign in, and what it gets. [B-AUTHZ-1]
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import {
  authorizeUrl,
  codeFor,
  exchange,
  human,
  newBrowser,
  newClient,
  newVerifier,
  reach,
  redirect,
  refreshCall,
  registerClient,
  signIn,
  tokenCall,
} from "./support/oauth-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { profiles: { work: { tools: ["notes.*"] } } } });
});
afterAll(() => server.stop());
afterEach(() => void vi.restoreAllMocks());

const claimsOf = (token: string) =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;

test("the address alone leads to the authorization server", async () => {
  for (const path of ["/mcp", "/mcp/work", "/rooms/kitchen/mcp"]) {
    const refused = await fetch(server.url + path, { method: "POST" });
    expect(refused.status).toBe(401);
    const [, where = ""] =
      /^Bearer resource_metadata="([^"]+)"$/.exec(refused.headers.get("www-authenticate") ?? "") ?? [];
    expect(where).toBe(`${server.url}/.well-known/oauth-protected-resource${path}`);
    expect(await (await fetch(where)).json()).toMatchObject({
      resource: server.url + path,
      authorization_servers: [server.url],
    });
  }
  const described = await Promise.all(
    ["oauth-authorization-server", "openid-configuration"].map(async (name) =>
      (await fetch(`${server.url}/.well-known/${name}`)).json(),
    ),
  );
  for (const metadata of described) {
    expect(metadata).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      registration_endpoint: `${server.url}/oauth/register`,
      revocation_endpoint: `${server.url}/oauth/revoke`,
      introspection_endpoint: `${server.url}/oauth/introspect`,
      code_challenge_methods_supported: ["S256"],
      response_types_supported: ["code"],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
    });
  }
});

test("a client registers, a person allows it, and it gets a token that does what was allowed", async () => {
  const log = vi.spyOn(console, "info");
  const warn = vi.spyOn(console, "warn");
  const client = await newClient(server);
  const { code, verifier, returned } = await codeFor(server, client);
  expect(`${returned.origin}${returned.pathname}`).toBe(redirect);
  expect(Object.fromEntries(returned.searchParams)).toEqual({ code, state: "state-1", iss: server.url });
  const { status, body, headers } = await exchange(server, client, {
    code,
    verifier,
    resource: `${server.url}/mcp`,
  });
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
  expect(body).toMatchObject({ token_type: "Bearer", scope: "mcp" });
  expect(body.expires_in).toBeGreaterThan(3_500);
  const claims = claimsOf(String(body.access_token));
  expect(claims).toMatchObject({
    sub: "test-client",
    aud: [server.identity.gatewayId, `${server.url}/mcp`],
    tools: ["**"],
    topics: ["kitchen"],
    level: "full",
    kind: "agent",
    name: "Test Client",
  });
  expect(claims.admin).toBeUndefined();
  expect(await reach(server, String(body.access_token))).toBe(200);
  const { body: issued } = await server.call("GET", "/admin/tokens", await server.adminToken());
  expect(JSON.stringify(issued)).toContain(String(claims.jti));
  // The library has notices of its own; none of them reaches the terminal.
  expect([...log.mock.calls, ...warn.mock.calls].filter(([text]) => /oidc/.test(String(text)))).toEqual([]);
});

test("a refresh token is good once; the second use ends everything of its family", async () => {
  const first = await signIn(server);
  const { status, body } = await refreshCall(server, first);
  expect(status).toBe(200);
  const second = { ...first, access: String(body.access_token), refresh: String(body.refresh_token) };
  expect(second.refresh).not.toBe(first.refresh);
  expect([await reach(server, first.access), await reach(server, second.access)]).toEqual([200, 200]);
  expect(await refreshCall(server, first)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  expect([await reach(server, first.access), await reach(server, second.access)]).toEqual([401, 401]);
  expect((await refreshCall(server, second)).status).toBe(400);
});

test("a client looks at its own tokens and gives them back; at others' it sees nothing", async () => {
  const mine = await signIn(server);
  const other = await signIn(server, {
    decision: "allow",
    participant: "other",
    tools: [],
    topics: [],
    level: "restricted",
    ttlMs: 60_000,
  });
  const look = (token: string, client_id: string) =>
    tokenCall(server, { token, client_id }, "/oauth/introspect");
  expect((await look(mine.access, mine.client.client_id)).body).toMatchObject({ active: true, scope: "mcp" });
  expect((await look(mine.refresh, mine.client.client_id)).body).toMatchObject({ active: true });
  expect((await look(mine.access, other.client.client_id)).body).toEqual({ active: false });
  const give = (token: string, client_id: string) => tokenCall(server, { token, client_id }, "/oauth/revoke");
  expect((await give(mine.refresh, other.client.client_id)).status).toBe(200);
  expect(await reach(server, mine.access)).toBe(200);
  expect((await give(mine.access, mine.client.client_id)).status).toBe(200);
  expect([await reach(server, mine.access), await reach(server, other.access)]).toEqual([401, 200]);
  expect((await look(mine.access, mine.client.client_id)).body).toEqual({ active: false });
  expect((await refreshCall(server, mine)).status).toBe(400);
});

test("a person who says no sends the client away with nothing", async () => {
  const client = await newClient(server);
  const { returned, code } = await codeFor(server, client, { decision: { decision: "deny" } });
  expect(code).toBe("");
  expect(Object.fromEntries(returned.searchParams)).toMatchObject({
    error: "access_denied",
    iss: server.url,
  });
});

test("the page says who asks, from where and for what", async () => {
  const client = await newClient(server, { client_name: "Claude\u202e Code" });
  const browser = newBrowser();
  const { challenge } = newVerifier();
  const wish = { code_challenge: challenge, resource: `${server.url}/mcp/work` };
  const { location } = await browser.go(authorizeUrl(server, client, wish));
  const { body } = await (await human(server, browser)).look(location);
  expect(body).toMatchObject({
    client: { name: "Claude Code" },
    redirect: { kind: "program", host: "127.0.0.1:7777" },
    resource: `${server.url}/mcp/work`,
    place: { kind: "profile", name: "work" },
    mayAllow: true,
    proposed: { tools: ["notes.*"], topics: [], level: "restricted" },
  });
  expect((body.proposed as { participant: string }).participant).toMatch(/^claude-code-[0-9a-f]{6}$/);
});

test("registration refuses what is no place for a code", async () => {
  expect((await registerClient(server)).status).toBe(201);
  expect(await registerClient(server, { redirect_uris: ["http://evil.example/cb"] })).toMatchObject({
    status: 400,
    body: { error: "invalid_redirect_uri" },
  });
});
