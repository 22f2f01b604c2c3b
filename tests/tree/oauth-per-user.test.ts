// A server that wants OAuth from each user: everybody signs in themselves, and has their own of everything.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "./credentials/support/authorization-server.ts";
import { type CookieBrowser, openCookieBrowser, type Page } from "./credentials/support/cookie-browser.ts";
import { type NotesServer, startNotesServer } from "./credentials/support/notes-server.ts";
import type { Kind } from "./support/sdk-callers.ts";
import { connectUrlCaller, type Opens, type UrlCaller } from "./support/url-callers.ts";

let issuer: AuthorizationServer;
let notes: NotesServer;
let server: TestServer;
const callers: UrlCaller[] = [];

async function open(era: "legacy" | "modern"): Promise<void> {
  issuer = await startAuthorizationServer();
  notes = await startNotesServer(issuer, era);
  const mcpServers = { notes: { url: notes.url, oauth: { per: "user" as const } } };
  server = await startTestServer({ config: { mcpServers } });
}

afterEach(async () => {
  for (const caller of callers.splice(0)) await caller.close().catch(() => {});
  await server.stop();
  await notes.stop();
  await issuer.stop();
});

async function caller(user: string, { kind = "v2 modern", opens }: { kind?: Kind; opens?: Opens } = {}) {
  const token = await server.token({ sub: user, topics: [], tools: ["**"] });
  const made = await connectUrlCaller(kind, { url: `${server.url}/mcp?names=canonical`, token, opens });
  callers.push(made);
  return made;
}

const isBack = ({ pathname }: URL) => pathname === "/oauth/callback";
const own = (names: string[]) => names.filter((name) => name.startsWith("notes."));

/** Opens the address, presses the button, and goes all the way. */
async function signInAt(url: string, browser: CookieBrowser): Promise<Page> {
  return browser.press(await browser.open(url));
}

/** Signs in with a client that can only say where. */
async function signIn(user: string, browser = openCookieBrowser(user)): Promise<UrlCaller> {
  const made = await caller(user);
  const { url } = await made.call("notes.sign_in");
  const page = await signInAt(String(url), browser);
  expect(page).toMatchObject({ status: 200, text: expect.stringContaining("You can close this window") });
  return made;
}

/** As far as the authorization server's answer, which is not taken yet. */
async function almost(
  user: string,
  browser: CookieBrowser,
): Promise<{ made: UrlCaller; back: string; url: string }> {
  const made = await caller(user);
  const { url } = await made.call("notes.sign_in");
  const page = await browser.press(await browser.open(String(url)), isBack);
  return { made, back: page.url, url: String(url) };
}

const kindsOf = {
  alice: "v1",
  bob: "v2 modern",
  carol: "v2 legacy",
} as const satisfies Record<string, Kind>;

describe.each(["legacy", "modern"] as const)("a %s server", (era) => {
  beforeEach(() => open(era));

  test("[AX-10.1-1] [AX-10.1-2] each user signs in by the address their client opens, and calls in their own name", async () => {
    const pages: Page[] = [];
    const opener = (user: string) => async (url: string) => {
      pages.push(await signInAt(url, openCookieBrowser(user)));
      return "accept" as const;
    };
    const all = await Promise.all(
      (["alice", "bob"] as const).map(async (user) => {
        const made = await caller(user, { kind: kindsOf[user], opens: opener(user) });
        await made.watch();
        return { user, made };
      }),
    );
    const carol = await caller("carol", { kind: kindsOf.carol });
    for (const { user, made } of all) {
      expect(own(await made.tools())).toEqual(["notes.sign_in"]);
      expect(await made.call("notes.sign_in")).toMatchObject({
        isError: false,
        text: expect.stringContaining(`${user} is signed in to notes`),
      });
      await expect.poll(() => made.changes.count).toBeGreaterThan(0);
    }
    expect(pages.map(({ status }) => status)).toEqual([200, 200]);
    for (const { user, made } of all) {
      expect(own(await made.tools())).toEqual([`notes.only_${user}`, "notes.read"]);
      expect(own(await made.prompts())).toEqual([`notes.ask_${user}`]);
      expect(await made.call("notes.read")).toMatchObject({ text: `the secret of ${user}` });
      const [uri = ""] = (await made.resources()).filter((one) => one.includes("notes"));
      expect(await made.read(uri)).toBe(`a page of ${user}`);
    }
    // The other's tools are not there, whatever they are called with.
    const [alice, bob] = all.map(({ made }) => made);
    await expect(bob?.call("notes.only_alice")).rejects.toThrow("Unknown tool");
    await expect(alice?.call("notes.only_bob")).rejects.toThrow("Unknown tool");
    expect(await alice?.call("notes.only_alice")).toMatchObject({ text: "yes" });
    // What the server says of itself is said to its user alone.
    for (const { user } of all) expect((await caller(user)).instructions()).toContain(`the notes of ${user}`);
    expect((await caller("carol")).instructions() ?? "").not.toContain("the notes of");
    // Version 1 was told when its question was over.
    expect(alice?.over).toEqual(alice?.asked);
    // Whoever has not signed in sees the way to it, and nothing else.
    expect(own(await carol.tools())).toEqual(["notes.sign_in"]);
    expect(own(await carol.prompts())).toEqual([]);
    expect((await carol.resources()).filter((one) => one.includes("notes"))).toEqual([]);
    await expect(carol.read("mcpx://notes/notes://mine")).rejects.toThrow("carol has not signed in");
    expect(await carol.call("notes.read")).toMatchObject({
      isError: true,
      text: expect.stringContaining("carol"),
    });
    // Each call came with its user's token, each session has one user, and one registration served all.
    const called = notes.seen.filter(({ method }) => method === "tools/call").map(({ account }) => account);
    expect(called).toEqual(["alice", "bob", "alice"]);
    expect(new Set(notes.seen.map(({ account }) => account))).toEqual(new Set(["", "alice", "bob"]));
    expect(notes.mixedUp).toEqual([]);
    expect(issuer.registrations).toHaveLength(1);
    expect(issuer.tokenRequests.every(({ resource }) => resource === notes.url)).toBe(true);
  });

  test("names as clients of other dialects see them mean each user's own", async () => {
    const url = `${server.url}/mcp?names=strict`;
    for (const user of ["alice", "bob"]) await signIn(user);
    const all = await Promise.all(
      ["alice", "bob"].map(async (user) => {
        const token = await server.token({ sub: user, topics: [], tools: ["**"] });
        const made = await connectUrlCaller("v2 modern", { url, token });
        callers.push(made);
        return { user, made, names: await made.tools() };
      }),
    );
    const nameOf = (at: number, part: string) => all[at]?.names.find((name) => name.includes(part)) ?? "";
    expect(nameOf(0, "only_bob") + nameOf(1, "only_alice")).toBe("");
    expect(nameOf(0, "only_alice")).not.toContain(".");
    for (const [at, { user, made }] of all.entries()) {
      expect(await made.call(nameOf(at, `only_${user}`))).toMatchObject({ text: "yes" });
      expect((await made.call(nameOf(at, "read"))).text).toBe(`the secret of ${user}`);
      await expect(made.call(nameOf(1 - at, "only_"))).rejects.toThrow("Unknown tool");
    }
  });

  test("many calls of two users at once never meet", async () => {
    const all = await Promise.all(["alice", "bob"].map(async (user) => ({ user, made: await signIn(user) })));
    const calls = Array.from({ length: 40 }, async (_, at) => {
      const { user, made } = all[at % 2] as (typeof all)[number];
      return (await made.call("notes.read")).text === `the secret of ${user}`;
    });
    expect(await Promise.all(calls)).toEqual(Array.from({ length: 40 }, () => true));
    expect(notes.mixedUp).toEqual([]);
  });

  test("what a user has signed in to is there after a restart, in files that name nobody", async () => {
    await signIn("alice");
    await server.restart();
    const again = await caller("alice");
    expect(await again.call("notes.read")).toMatchObject({ text: "the secret of alice" });
    const dir = join(server.dataDir, "credentials");
    const files = readdirSync(dir);
    expect(files).toHaveLength(2);
    for (const file of files) {
      expect(file).toMatch(/^[0-9a-f]{64}\.json$/);
      expect((statSync(join(dir, file)).mode & 0o777).toString(8)).toBe("600");
    }
    // And for nobody else.
    expect(own(await (await caller("bob")).tools())).toEqual(["notes.sign_in"]);
  });

  test("tokens are renewed once, however many calls need them, and for each user alone", async () => {
    issuer.behaviour.expiresInS = 10;
    const alice = await signIn("alice");
    const bob = await signIn("bob");
    const before = refreshTokens();
    const { promise, resolve } = Promise.withResolvers<void>();
    issuer.behaviour = { expiresInS: 3_600, refreshesAfter: promise };
    const calls = [alice, bob].flatMap((made) => Array.from({ length: 10 }, () => made.call("notes.read")));
    await expect.poll(() => refreshes()).toBe(2);
    resolve();
    const texts = (await Promise.all(calls)).map(({ text }) => text);
    expect(texts.filter((text) => text === "the secret of alice")).toHaveLength(10);
    expect(texts.filter((text) => text === "the secret of bob")).toHaveLength(10);
    expect(refreshes()).toBe(2);
    // The control: a second renewal with the same token would have been refused.
    for (const refresh of before) expect(await refreshWith(refresh)).toBe(400);
    for (const refresh of refreshTokens()) expect(await refreshWith(refresh)).toBe(200);
  });

  test("a refresh token that is not taken any more signs its user out, who is told, and nobody else", async () => {
    const alice = await signIn("alice");
    const bob = await signIn("bob");
    await alice.watch();
    await alice.tools();
    expect(await alice.call("notes.read")).toMatchObject({ isError: false });
    const told = alice.changes.count;
    issuer.revoke();
    for (const [token, account] of issuer.accounts) if (account === "alice") issuer.tokens.delete(token);
    await expect(alice.call("notes.read")).rejects.toThrow("alice is signed out of it");
    await expect.poll(() => alice.changes.count).toBeGreaterThan(told);
    expect(own(await alice.tools())).toEqual(["notes.sign_in"]);
    expect(await alice.call("notes.read")).toMatchObject({ isError: true, url: expect.any(String) });
    expect(await users()).toEqual(["bob"]);
    expect(await bob.call("notes.read")).toMatchObject({ text: "the secret of bob" });
    expect(await audited("oauth.sign_out")).toMatchObject([{ actor: "alice", subject: "notes" }]);
    await signIn("alice");
    expect(await alice.call("notes.read")).toMatchObject({ text: "the secret of alice" });
  });

  test("an authorization server that is out of order signs nobody out", async () => {
    const alice = await signIn("alice");
    issuer.tokens.clear();
    issuer.behaviour.tokenFailure = { status: 503, body: "$FORM" };
    await expect(alice.call("notes.read")).rejects.toThrow("renewing the tokens");
    expect(await users()).toEqual(["alice"]);
    delete issuer.behaviour.tokenFailure;
    // A server that failed is left alone for a second.
    const text = () => alice.call("notes.read").then((result) => result.text, String);
    await expect.poll(text).toBe("the secret of alice");
  });

  test("a server that wants more gets it at the next sign-in", async () => {
    const alice = await signIn("alice");
    notes.needs = "write";
    await expect(alice.call("notes.read")).rejects.toThrow("alice is signed out of it");
    await signIn("alice");
    expect(issuer.authorizations.at(-1)?.get("scope")?.split(" ")).toContain("write");
    expect(await alice.call("notes.read")).toMatchObject({ text: "the secret of alice" });
  });

  test("an operator signs a user out, and what the user had open ends", async () => {
    const alice = await signIn("alice");
    await alice.call("notes.read");
    const path = "/admin/servers/notes/users/alice";
    const plain = await server.token({ sub: "bob", topics: [], tools: ["**"] });
    expect((await server.call("DELETE", path, plain)).status).toBe(403);
    expect(await alice.call("notes.read")).toMatchObject({ isError: false });
    expect((await server.call("DELETE", path, await server.adminToken())).status).toBe(200);
    await expect.poll(() => notes.sessions.size).toBe(0);
    expect(own(await alice.tools())).toEqual(["notes.sign_in"]);
    expect(kept("alice")).toEqual([]);
    expect(await audited("oauth.sign_out")).toMatchObject([{ actor: "admin", subject: "notes" }]);
    expect((await server.call("DELETE", path, await server.adminToken())).status).toBe(404);
  });

  test("tokens that are being renewed while their user is signed out are not kept", async () => {
    issuer.behaviour.expiresInS = 10;
    const alice = await signIn("alice");
    const { promise, resolve } = Promise.withResolvers<void>();
    issuer.behaviour = { expiresInS: 3_600, refreshesAfter: promise };
    const call = alice.call("notes.read").catch(String);
    await expect.poll(() => refreshes()).toBe(1);
    await server.call("DELETE", "/admin/servers/notes/users/alice", await server.adminToken());
    expect(kept("alice")).toEqual([]);
    resolve();
    expect(JSON.stringify(await call)).not.toContain("the secret");
    // What comes of it has come, whatever it is, when another call has gone the same way.
    await signIn("bob");
    expect(kept("alice")).toEqual([]);
    expect(await users()).toEqual(["bob"]);
  });

  test("nothing of what was granted is logged or recorded", async () => {
    const alice = await signIn("alice");
    await alice.call("notes.read");
    const secrets = [...issuer.accounts.keys(), ...refreshTokens()];
    const params = issuer.authorizations.map((one) => one.get("state") ?? "");
    expect(secrets).toHaveLength(2);
    const told = [...server.logged, JSON.stringify(await audited("oauth.sign_in"))].join("\n");
    for (const secret of [...secrets, ...params]) expect(told).not.toContain(secret);
    // The control: they are where they belong.
    expect(kept("alice").join()).toContain(secrets[0]);
    expect(await audited("oauth.sign_in")).toMatchObject([{ actor: "alice", subject: "notes" }]);
  });
});

describe("nobody", () => {
  beforeEach(() => open("modern"));

  test("is told of others: the status has their number, and the way for the one who asks", async () => {
    await signIn("alice");
    const bob = await caller("bob");
    const seen = await statusOf(bob);
    expect(seen).toMatchObject({ state: "needs sign-in", users: 1, signed_in: false });
    expect(JSON.stringify(seen)).not.toContain("alice");
    await signInAt(String(seen.sign_in_url), openCookieBrowser("bob"));
    await bob.call("notes.read");
    expect(await statusOf(bob)).toMatchObject({ state: "up", users: 2, signed_in: true });
    expect(await statusOf(bob)).not.toHaveProperty("sign_in_url");
  });

  test("finds anything with a token that has no name", async () => {
    await signIn("alice");
    const token = await server.token({ topics: [], tools: ["**"] });
    const made = await connectUrlCaller("v2 modern", { url: `${server.url}/mcp?names=canonical`, token });
    callers.push(made);
    expect(own(await made.tools())).toEqual([]);
    await expect(made.call("notes.read")).rejects.toThrow();
  });

  test("is given the way to it whose token has no tool of it, and everybody else by any tool they may use", async () => {
    const url = `${server.url}/mcp?names=canonical`;
    const narrow = async (tools: string[]) => {
      const token = await server.token({ sub: "dora", topics: [], tools });
      const made = await connectUrlCaller("v2 modern", { url, token });
      callers.push(made);
      return made;
    };
    const stranger = await narrow(["files.**"]);
    expect(await stranger.tools()).toEqual([]);
    await expect(stranger.call("notes.sign_in")).rejects.toThrow("Unknown tool");
    await expect(stranger.call("notes.read")).rejects.toThrow("Unknown tool");
    const reader = await narrow(["notes.read"]);
    expect(await reader.call("notes.read")).toMatchObject({ isError: true, url: expect.any(String) });
    await expect(reader.call("notes.only_dora")).rejects.toThrow("Unknown tool");
  });

  test("waits for a user who does not want to", async () => {
    const opens = async () => "decline" as const;
    const alice = await caller("alice", { kind: "v1", opens });
    expect(await alice.call("notes.sign_in")).toMatchObject({ isError: true, url: expect.any(String) });
  });

  test("keeps a conversation that was begun with a revoked token", async () => {
    await notes.stop();
    await server.stop();
    await issuer.stop();
    await open("legacy");
    await signIn("alice");
    const { token, jti } = await server.identity.tokens.mint(
      { sub: "alice", topics: [], tools: ["**"] },
      { ttlMs: 600_000 },
    );
    const made = await connectUrlCaller("v2 modern", { url: `${server.url}/mcp?names=canonical`, token });
    callers.push(made);
    expect(await made.call("notes.read")).toMatchObject({ text: "the secret of alice" });
    expect(notes.sessions.size).toBe(1);
    await server.identity.revocations.revoke(jti);
    await expect.poll(() => notes.sessions.size).toBe(0);
    // Who has another token goes on.
    expect(await (await caller("alice")).call("notes.read")).toMatchObject({ text: "the secret of alice" });
  });
});

describe("a sign-in", () => {
  beforeEach(() => open("modern"));

  test("says who signs in to what, and changes nothing before the button", async () => {
    const alice = await caller("alice");
    const { url } = await alice.call("notes.sign_in");
    const page = await openCookieBrowser("alice").open(String(url));
    expect(page.text).toContain("<bdi>alice</bdi>");
    expect(page.text).toContain("<bdi>notes</bdi>");
    expect(page.text).not.toContain("<script");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(page.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(page.headers.get("set-cookie")).toMatch(
      /^mcpx-sign-in-[0-9a-f]{16}=[\w-]{43}; .*HttpOnly; SameSite=Lax$/,
    );
    expect(issuer.authorizations).toHaveLength(0);
    expect(notes.seen).toHaveLength(0);
    // However often it is looked at, by whomever, it is still good.
    await openCookieBrowser("crawler").open(String(url));
    expect((await signInAt(String(url), openCookieBrowser("alice"))).status).toBe(200);
  });

  test("is for where people reach us: over TLS its cookie belongs to that host alone", async () => {
    const gates = { url: "https://gate.example", rules: [{ tools: "**", action: "allow" as const }] };
    const mcpServers = { notes: { url: notes.url, oauth: { per: "user" as const } } };
    await server.restart({ config: { mcpServers, gates } });
    const { url = "" } = await (await caller("alice")).call("notes.sign_in");
    expect(url).toMatch(/^https:\/\/gate\.example\/oauth\/start\//);
    const here = url.replace("https://gate.example", server.url);
    const page = await fetch(here);
    const cookie = page.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^__Host-mcpx-sign-in-[0-9a-f]{16}=.*; Path=\/; .*; Secure$/);
    const proof = /name="proof" value="([^"]*)"/.exec(await page.text())?.[1] ?? "";
    const headers = { cookie: cookie.split(";")[0] ?? "" };
    const gone = await fetch(here, { method: "POST", headers, body: `proof=${proof}`, redirect: "manual" });
    const redirect = new URL(gone.headers.get("location") ?? "").searchParams.get("redirect_uri");
    expect(redirect).toBe("https://gate.example/oauth/callback");
    expect(issuer.registrations).toMatchObject([{ application_type: "web", redirect_uris: [redirect] }]);
  });

  test("counts once: neither its address nor its answer is taken again", async () => {
    const browser = openCookieBrowser("alice");
    const { back, url } = await almost("alice", browser);
    expect((await browser.open(url)).status).toBe(401);
    const cookies = new Map(browser.cookies(server.url));
    expect((await browser.open(back)).status).toBe(200);
    for (const [name, value] of cookies) browser.cookies(server.url).set(name, value);
    expect(await browser.open(back)).toMatchObject({
      status: 401,
      text: expect.stringContaining("was finished before"),
    });
    expect(issuer.tokenRequests).toHaveLength(1);
  });

  test("is finished only in the browser that began it, and not ended by another", async () => {
    const browser = openCookieBrowser("alice");
    const { made, back } = await almost("alice", browser);
    const other = openCookieBrowser("mallory");
    expect(await other.open(back)).toMatchObject({
      status: 401,
      text: expect.stringContaining("begun in another browser"),
    });
    expect(issuer.tokenRequests).toHaveLength(0);
    expect(await users()).toEqual([]);
    expect(await audited("oauth.sign_in")).toMatchObject([{ actor: "alice", reason: "ticket_invalid" }]);
    // The control: in its own browser it is.
    expect((await browser.open(back)).status).toBe(200);
    expect(await made.call("notes.read")).toMatchObject({ text: "the secret of alice" });
  });

  test("of mallory does not end in the account of a victim who is sent to its address", async () => {
    // Mallory presses the button, and sends the victim to the authorization server.
    const mallory = openCookieBrowser("mallory");
    const made = await caller("mallory");
    const { url } = await made.call("notes.sign_in");
    const isAuthorize = ({ pathname }: URL) => pathname === "/authorize";
    const { url: authorize } = await mallory.press(await mallory.open(String(url)), isAuthorize);
    const victim = openCookieBrowser("victim");
    expect((await victim.open(authorize)).status).toBe(401);
    expect(own(await made.tools())).toEqual(["notes.sign_in"]);
    // The control: had mallory gone there, it would have been mallory's own.
    expect((await mallory.open(authorize)).status).toBe(200);
    expect(await made.call("notes.read")).toMatchObject({ text: "the secret of mallory" });
  });

  test("is begun only by the button of its page, in the browser it was shown in", async () => {
    const made = await caller("mallory");
    const { url } = await made.call("notes.sign_in");
    const mallory = openCookieBrowser("mallory");
    const page = await mallory.open(String(url));
    const victim = openCookieBrowser("victim");
    // Another site's form: no cookie of ours comes along.
    expect((await victim.press(page)).status).toBe(401);
    // Nor with a cookie of its own for another page.
    await victim.open(String(url));
    expect((await victim.press(page)).status).toBe(401);
    const [cookie = ""] = [...mallory.cookies(server.url)]
      .map(([name, value]) => `${name}=${value}`)
      .slice(1);
    const proof = /name="proof" value="([^"]*)"/.exec(page.text)?.[1] ?? "";
    const post = async (headers: Record<string, string>, body = `proof=${proof}`) =>
      (
        await fetch(String(url), {
          method: "POST",
          headers: { cookie, ...headers },
          body,
          redirect: "manual",
        })
      ).status;
    expect(await post({ origin: "https://evil.example" })).toBe(403);
    expect(await post({ "sec-fetch-site": "cross-site" })).toBe(401);
    expect(await post({}, "")).toBe(401);
    expect(issuer.authorizations).toHaveLength(0);
    // The control.
    expect(await post({})).toBe(303);
  });

  test("is refused where another authorization server answers than was asked", async () => {
    issuer.behaviour.iss = "https://evil.example";
    const browser = openCookieBrowser("alice");
    const { back } = await almost("alice", browser);
    expect(await browser.open(back)).toMatchObject({ status: 502, text: expect.stringContaining("issuer") });
    expect(issuer.tokenRequests).toHaveLength(0);
    expect(await users()).toEqual([]);
    // The control.
    delete issuer.behaviour.iss;
    await signIn("alice");
    expect(await users()).toEqual(["alice"]);
  });

  test.each([
    ["a state nobody has", (back: URL) => back.searchParams.set("state", "x".repeat(43))],
    ["no state", (back: URL) => back.searchParams.delete("state")],
    ["two states", (back: URL) => back.searchParams.append("state", "x")],
    ["two codes", (back: URL) => back.searchParams.append("code", "x")],
  ])("is not finished with %s", async (_, spoil) => {
    const browser = openCookieBrowser("alice");
    const { back } = await almost("alice", browser);
    const spoilt = new URL(back);
    spoil(spoilt);
    expect((await browser.open(spoilt.href)).status).toBe(401);
    expect(await users()).toEqual([]);
    expect((await browser.open(back)).status).toBe(200);
  });

  test("that the user does not allow there is over, and says so", async () => {
    issuer.behaviour.answer = { error: "access_denied" };
    const browser = openCookieBrowser("alice");
    const { made, back } = await almost("alice", browser);
    expect(await browser.open(back)).toMatchObject({
      status: 502,
      text: expect.stringContaining("access_denied"),
    });
    expect((await browser.open(back)).status).toBe(401);
    expect(own(await made.tools())).toEqual(["notes.sign_in"]);
  });
});

async function users(): Promise<string[]> {
  const { body } = await server.call("GET", "/admin/servers/notes/users", await server.adminToken());
  return body.users;
}

interface Audited {
  action: string;
  actor?: string;
  subject?: string;
  reason?: string;
}

async function audited(action: string): Promise<Audited[]> {
  let found: Audited[] = [];
  await expect
    .poll(async () => {
      const { body } = await server.call("GET", "/admin/audit?limit=100", await server.adminToken());
      found = (body.records as Audited[]).filter((one) => one.action === action);
      return found.length;
    })
    .toBeGreaterThan(0);
  return found;
}

/** Files with credentials of this user. */
function kept(user: string): string[] {
  const dir = join(server.dataDir, "credentials");
  const texts = readdirSync(dir).map((file) => readFileSync(join(dir, file), "utf8"));
  return texts.filter((text) => JSON.parse(text).key === JSON.stringify(["user", "notes", user]));
}

function refreshTokens(): string[] {
  return ["alice", "bob"].flatMap((user) =>
    kept(user).map((text) => String(JSON.parse(text).credential.tokens.refresh)),
  );
}

function refreshes(): number {
  return issuer.tokenRequests.filter(({ grant }) => grant === "refresh_token").length;
}

async function refreshWith(refresh: string): Promise<number> {
  const client = JSON.parse(kept("alice")[0] ?? "").credential.client.id;
  const body = new URLSearchParams({
    grant_type: "refresh_token",
    refresh_token: refresh,
    client_id: client,
  });
  return (await fetch(`${issuer.issuer}/token`, { method: "POST", body })).status;
}

async function statusOf(made: UrlCaller): Promise<Record<string, unknown>> {
  const { servers } = JSON.parse((await made.call("mcpax.status")).text);
  return servers.find(({ name }: { name: string }) => name === "notes");
}
