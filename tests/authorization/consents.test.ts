// What was allowed: listed, taken back from every side, and still there after a restart.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { mcpx } from "../cli/support/mcpx-process.ts";
import { visit } from "../console/support/visitor.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { leapingClock } from "./support/leaping-clock.ts";
import {
  authorizeUrl,
  exchange,
  human,
  newBrowser,
  newClient,
  newVerifier,
  reach,
  refreshCall,
  type SignedIn,
  signIn,
} from "./support/oauth-client.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock: leapingClock.clock });
});
beforeEach(leapingClock.leap);
afterAll(() => server.stop());

interface Listed {
  id: string;
  client: string;
  clientName: string;
  usedAt: string | null;
}

async function consents(): Promise<Listed[]> {
  const { body } = await server.call("GET", "/admin/consents", await server.adminToken());
  return (body as unknown as { consents: Listed[] }).consents;
}

const idOf = async ({ client }: SignedIn) =>
  (await consents()).find((one) => one.client === client.client_id)?.id;

async function recorded(action: string) {
  const { body } = await server.call("GET", `/admin/audit?action=${action}`, await server.adminToken());
  return (body as unknown as { records: { action: string; actor: string; detail: string }[] }).records.filter(
    (one) => one.action === action,
  );
}

const isOut = async (one: SignedIn) => {
  expect(await reach(server, one.access)).toBe(401);
  expect((await refreshCall(server, one)).status).toBe(400);
  expect(await idOf(one)).toBeUndefined();
};

test("an admin sees what was allowed and takes it back: the client is out on its next request", async () => {
  const mine = await signIn(server);
  const other = await signIn(server);
  const listed = (await consents()).find(({ client }) => client === mine.client.client_id);
  expect(listed).toMatchObject({
    clientName: "Test Client",
    participant: "test-client",
    tools: ["**"],
    topics: ["kitchen"],
    level: "full",
    resource: `${server.url}/mcp`,
    redirect: "http://127.0.0.1:7777/callback",
    usedAt: expect.any(String),
  });
  expect((await server.call("GET", "/admin/consents", mine.access)).status).toBe(403);
  expect((await server.call("DELETE", `/admin/consents/${listed?.id}`, mine.access)).status).toBe(403);
  expect(await reach(server, mine.access)).toBe(200);
  const gone = await server.call("DELETE", `/admin/consents/${listed?.id}`, await server.adminToken());
  expect(gone).toMatchObject({ status: 200, body: { id: listed?.id } });
  expect(
    (await server.call("DELETE", `/admin/consents/${listed?.id}`, await server.adminToken())).status,
  ).toBe(404);
  await isOut(mine);
  expect(await reach(server, other.access)).toBe(200);
  expect((await recorded("consent.grant")).length).toBeGreaterThanOrEqual(2);
  expect(JSON.stringify(await recorded("consent.revoke"))).toContain(listed?.id);
});

test("the console lists and ends them, with its login and not without", async () => {
  const mine = await signIn(server);
  const visitor = await visit(server);
  const { body } = await visitor.call("GET", "/console/api/admin/consents");
  expect(JSON.stringify(body)).toContain(mine.client.client_id);
  const path = `/console/api/admin/consents/${await idOf(mine)}`;
  expect((await fetch(server.url + path, { method: "DELETE" })).status).toBe(403);
  expect((await visitor.call("DELETE", path)).status).toBe(200);
  await isOut(mine);
});

test("who revokes a token of a client ends what it was allowed, also from another process", async () => {
  const mine = await signIn(server);
  const other = await signIn(server);
  const { jti } = JSON.parse(Buffer.from(mine.access.split(".")[1] ?? "", "base64url").toString()) as {
    jti: string;
  };
  await server.identity.revocations.revoke(jti);
  await expect.poll(() => idOf(mine)).toBeUndefined();
  await isOut(mine);
  expect(await idOf(other)).toBeDefined();
});

test("[B-AUTHZ-1] the terminal lists them and ends one", { timeout: 60_000 }, async () => {
  const mine = await signIn(server);
  const id = (await idOf(mine)) ?? "";
  const at = ["--url", server.url, "--token", await server.adminToken()];
  const { out } = await mcpx(["consents", ...at]);
  expect(out).toMatch(/^ID +PROGRAM +KNOWN AS +TOOLS +ROOMS +ENDS +LAST TOKEN$/m);
  expect(out).toMatch(
    new RegExp(`^${id} +Test Client +test-client +\\*\\* +kitchen \\(full\\) +in \\w+ +\\w+ ago$`, "m"),
  );
  expect(await mcpx(["consents", "revoke", "nothing-like-it", ...at])).toMatchObject({ code: 1 });
  expect(await mcpx(["consents", "revoke", id.slice(0, 8), ...at])).toMatchObject({
    code: 0,
    out: `revoked ${id}: Test Client can no longer use this gateway`,
  });
  await isOut(mine);
});

test("a restart at any step loses nothing of a sign-in", async () => {
  const client = await newClient(server);
  const { verifier, challenge } = newVerifier();
  const browser = newBrowser();
  await server.restart();
  const { location } = await browser.go(authorizeUrl(server, client, { code_challenge: challenge }));
  await server.restart();
  const { body } = await (await human(server, browser)).decide(location);
  await server.restart();
  const back = await browser.go(String(body.location));
  const code = new URL(back.location).searchParams.get("code") ?? "";
  await server.restart();
  const first = await exchange(server, client, { code, verifier });
  expect(first.status).toBe(200);
  const signed = {
    client,
    access: String(first.body.access_token),
    refresh: String(first.body.refresh_token),
  };
  await server.restart();
  expect(await reach(server, signed.access)).toBe(200);
  const second = await refreshCall(server, signed);
  expect(second.status).toBe(200);
  await server.restart();
  expect((await refreshCall(server, signed)).status).toBe(400);
  expect(await reach(server, String(second.body.access_token))).toBe(401);
});
