// Logging in at the console with an account of the company: whom its groups let in, and who is out again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createOpenId } from "../../packages/cli/src/console/company/openid.ts";
import { leapingClock } from "../authorization/support/leaping-clock.ts";
import { newBrowser } from "../authorization/support/oauth-client.ts";
import { mcpx } from "../cli/support/mcpx-process.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import {
  clientId,
  clientSecret,
  type OpenIdProvider,
  startOpenIdProvider,
} from "./support/openid-provider.ts";

let provider: OpenIdProvider;
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ clock: leapingClock.clock });
  provider = await startOpenIdProvider([`${server.url}/console/login/callback`]);
  await server.restart({
    loginAskMs: 100,
    logins: [
      {
        ...{
          name: "company",
          issuer: provider.issuer,
          clientId,
          clientSecret: () => clientSecret,
          scopes: ["groups"],
        },
        rules: [
          {
            claims: { groups: ["ops"] },
            admin: true,
            topics: ["team/**"],
            tools: ["notes.*"],
            level: "full",
          },
          { claims: { groups: ["staff"] }, tools: ["notes.*"] },
        ],
      },
    ],
  });
}, 60_000);
afterAll(async () => {
  await server.stop();
  await provider.close();
});

afterEach(() => {
  provider.refuses = () => false;
});

const askedFor = (part: string) => provider.asked.filter((path) => path.includes(part)).length;

/** The way there and back, up to where the browser brings the code. */
async function comeBack(sub: string) {
  const browser = newBrowser();
  const idp = newBrowser();
  const begun = await browser.go(`${server.url}/console/login/with/company`);
  provider.current = sub;
  let next = await idp.go(begun.location);
  while (next.location !== "" && !next.location.startsWith(server.url))
    next = await idp.go(new URL(next.location, provider.issuer).href);
  return { browser, begun, callback: next.location };
}

async function logIn(sub: string) {
  const { browser, callback } = await comeBack(sub);
  const answer = await browser.go(callback);
  const half = /#in=(.+)$/.exec(answer.location)?.[1] ?? "";
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${server.url}/console/api${path}`, {
      method,
      headers: {
        ...{ cookie, origin: server.url, "x-mcpx-console": half },
        ...(body && { "content-type": "application/json" }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    return {
      status: response.status,
      body: (await response.json().catch(() => ({}))) as Record<string, unknown>,
    };
  };
  return { ...answer, callback, call };
}

test("a person of a group that makes admins is in, with the rights of the rules and no more", async () => {
  provider.people.set("alice", { groups: ["ops"], email: "a@example.com" });
  const alice = await logIn("alice");
  expect([alice.status, alice.location.startsWith("/#in=")]).toEqual([303, true]);
  expect((await alice.call("GET", "/session")).body).toMatchObject({ user: "company/alice" });
  expect((await alice.call("GET", "/admin/audit")).status).toBe(200);
  // As every login that is not made at the machine, it makes no tokens and enrols nobody.
  expect((await alice.call("POST", "/tokens", { id: "x", topics: [], ttlMs: 1_000 })).status).toBe(403);
  const { body } = await alice.call("POST", "/room-token", { tab: "t1" });
  const claims = JSON.parse(Buffer.from(String(body.token).split(".")[1] ?? "", "base64url").toString());
  expect(claims).toMatchObject({ sub: "company/alice", topics: ["team/**"], level: "full" });
  expect(claims.admin).toBeUndefined();
  // Nothing that the provider gave is logged.
  expect(server.logged.join("").includes(clientSecret)).toBe(false);
  expect((await alice.call("POST", "/logout", {})).status).toBe(200);
  expect((await alice.call("GET", "/session")).status).toBe(401);
});

test("who is in no such group, or unknown, is told so and is not in", async () => {
  provider.people.set("bob", { groups: ["staff"], email: "a@example.com" });
  provider.people.set("carl", { groups: "Ops" });
  for (const sub of ["bob", "carl"]) {
    const { status, text, location } = await logIn(sub);
    expect([status, location]).toEqual([403, ""]);
    expect(text).toContain("This did not work");
  }
});

test("the same e-mail address makes nobody the same person", async () => {
  provider.people.set("alice", { groups: ["ops"], email: "a@example.com" });
  provider.people.set("mallory", { groups: ["ops"], email: "a@example.com" });
  const [alice, mallory] = [await logIn("alice"), await logIn("mallory")];
  expect((await alice.call("GET", "/session")).body.user).toBe("company/alice");
  expect((await mallory.call("GET", "/session")).body.user).toBe("company/mallory");
});

test("who leaves, or leaves the group, is out at the next question to the provider", async () => {
  provider.people.set("dora", { groups: ["ops"] });
  provider.people.set("emil", { groups: ["ops"] });
  provider.people.set("stays", { groups: ["ops"] });
  const [dora, emil, stays] = [await logIn("dora"), await logIn("emil"), await logIn("stays")];
  for (const one of [dora, emil, stays]) expect((await one.call("GET", "/session")).status).toBe(200);
  provider.people.delete("dora");
  provider.people.set("emil", { groups: ["staff"] });
  for (const one of [dora, emil])
    await expect.poll(async () => (await one.call("GET", "/session")).status).toBe(401);
  expect((await stays.call("GET", "/session")).status).toBe(200);
});

test("a code that another browser brings, or that comes twice, lets nobody in", async () => {
  provider.people.set("alice", { groups: ["ops"] });
  const { browser, callback } = await comeBack("alice");
  expect((await newBrowser().go(callback)).location).toBe("");
  const other = await comeBack("alice");
  const swapped = new URL(callback);
  swapped.searchParams.set("state", new URL(other.callback).searchParams.get("state") ?? "");
  expect((await other.browser.go(swapped.href)).location).toBe("");
  const third = await comeBack("alice");
  const wrong = new URL(third.callback);
  wrong.searchParams.set("iss", "https://evil.example");
  expect((await third.browser.go(wrong.href)).location).toBe("");
  expect((await browser.go(callback)).location).toMatch(/^\/#in=/);
  expect((await browser.go(callback)).location).toBe("");
});

test("what a provider says of itself is read once for all, again after ten minutes, and counts for a day where it is not said again", async () => {
  let now = 0;
  const settings = { issuer: provider.issuer, clientId, clientSecret: () => clientSecret, scopes: [] };
  const openId = createOpenId(settings, { monotonic: () => now });
  const begin = () => openId.begin("https://gateway.example/cb", "state");
  const before = askedFor("/.well-known/");
  const reads = () => askedFor("/.well-known/") - before;
  await Promise.all([begin(), begin(), begin()]);
  await begin();
  expect(reads()).toBe(1);
  now += 600_000;
  await begin();
  expect(reads()).toBe(2);
  provider.refuses = () => true;
  now += 600_000;
  for (let i = 0; i < 3; i += 1) expect((await begin()).location.host).toBe(new URL(provider.issuer).host);
  expect(reads()).toBe(3);
  now += 86_400_000;
  await expect(begin()).rejects.toThrow();
  provider.refuses = () => false;
  await begin();
  // A new secret is a new client, and nothing of the old one counts.
  settings.clientSecret = () => "another";
  const read = reads();
  await begin();
  expect(reads()).toBe(read + 1);
});

test("a provider that is asked too often ends no login, and who comes meanwhile is told what to do", async () => {
  provider.people.set("alice", { groups: ["ops"] });
  const alice = await logIn("alice");
  const { browser, callback } = await comeBack("alice");
  provider.refuses = (path) => path.startsWith("/token");
  const asked = askedFor("/token");
  await expect.poll(() => askedFor("/token")).toBeGreaterThan(asked + 2);
  expect((await alice.call("GET", "/session")).status).toBe(200);
  const { status, location, text } = await browser.go(callback);
  expect([status, location]).toEqual([503, ""]);
  expect(text).toContain("is asked too often (HTTP 429)");
  expect(text).toContain("mcpx console");
  // Control: once it answers again, what it says counts again.
  provider.refuses = () => false;
  provider.people.delete("alice");
  await expect.poll(async () => (await alice.call("GET", "/session")).status).toBe(401);
});

test("a provider that does not answer for fifteen minutes has no login left", async () => {
  provider.people.set("alice", { groups: ["ops"] });
  const alice = await logIn("alice");
  provider.refuses = () => true;
  const asked = askedFor("/token");
  await expect.poll(() => askedFor("/token")).toBeGreaterThan(asked + 1);
  for (let minutes = 0; minutes < 14; minutes += 1) leapingClock.leap();
  // It was asked again since then, in vain.
  const later = askedFor("/token");
  await expect.poll(() => askedFor("/token")).toBeGreaterThan(later + 2);
  expect((await alice.call("GET", "/session")).status).toBe(200);
  leapingClock.leap();
  await expect.poll(async () => (await alice.call("GET", "/session")).status).toBe(401);
});

test("mcpx access test says what claims would give, and why", { timeout: 60_000 }, async () => {
  const file = join(server.dataDir, "claims.json");
  const at = ["--url", server.url, "--token", await server.adminToken()];
  const verdict = async (claims: object) => {
    writeFileSync(file, JSON.stringify(claims));
    return await mcpx(["access", "test", "--claims", file, ...at]);
  };
  expect((await verdict({ sub: "x", groups: ["ops", "staff"] })).out.split("\n")).toEqual([
    "admin: may log in at the console",
    "tools: notes.*",
    "rooms: team/** (full)",
    "because of: logins.company.rights[0], logins.company.rights[1]",
  ]);
  expect((await verdict({ groups: ["guests"] })).out).toBe("nothing: no rule fits");
});

test("a provider that does not answer, or that nobody configured, is no way in, and is named", async () => {
  await server.restart({
    logins: [{ name: "company", issuer: "http://localhost:9", clientId, scopes: [], rules: [] }],
  });
  const away = await newBrowser().go(`${server.url}/console/login/with/company`);
  expect([away.status, away.text.includes("cannot be reached")]).toEqual([503, true]);
  expect(away.text).toContain("Log in again in a minute");
  const { status, text } = await newBrowser().go(`${server.url}/console/login/with/nobody`);
  expect([status, text.includes("there is no login")]).toEqual([404, true]);
});
