// The attacks that authorization servers are known for, each beside the same thing done honestly. [B-AUTHZ-1]
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { linkOf, visit, visitBy } from "../console/support/visitor.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { leapingClock } from "./support/leaping-clock.ts";
import {
  allowed,
  authorizeUrl,
  beginSignIn,
  type Client,
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
  server = await startTestServer({ clock: leapingClock.clock });
});
// Those here come from one address: none of them waits for the others.
beforeEach(leapingClock.leap);
afterAll(() => server.stop());

const begin = (client: Client, wish: Record<string, string | undefined>) => beginSignIn(server, client, wish);

describe("redirects", () => {
  test("a code is sent nowhere but where the client registered", async () => {
    const client = await newClient(server, { redirect_uris: ["https://app.example/cb", redirect] });
    for (const good of ["https://app.example/cb", redirect]) {
      expect((await begin(client, { redirect_uri: good })).isAsked, good).toBe(true);
    }
    const tricks = [
      "https://evil.example/cb",
      "https://app.example/cb/../../evil",
      "https://app.example/cb/",
      "https://app.example/cb?next=https://evil.example",
      "https://app.example.evil.example/cb",
      "https://app.example@evil.example/cb",
      "https://APP.example/CB",
      "https://app.example:8443/cb",
      "http://app.example/cb",
      "//app.example/cb",
      "javascript:alert(1)",
      undefined,
    ];
    for (const bad of tricks) {
      const { isAsked, status, location, headers } = await begin(client, { redirect_uri: bad });
      expect([isAsked, status, location], String(bad)).toEqual([false, 400, ""]);
      // A page of ours, that nobody can put into theirs.
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    }
  });

  test("a loopback redirect may have another port, and nothing else", async () => {
    const client = await newClient(server, { redirect_uris: ["http://127.0.0.1/callback"] });
    expect((await begin(client, { redirect_uri: "http://127.0.0.1:40123/callback" })).isAsked).toBe(true);
    for (const bad of [
      "http://127.0.0.1:40123/other",
      "http://127.0.0.2:40123/callback",
      "http://localhost:40123/callback",
      "https://127.0.0.1:40123/callback",
      "http://127.0.0.1:40123@evil.example/callback",
      "http://127.0.0.1.evil.example/callback",
    ]) {
      expect((await begin(client, { redirect_uri: bad })).isAsked, bad).toBe(false);
    }
  });

  test("what runs, or goes over the network in the clear, is not registered", async () => {
    const tried = async (uri: string) => (await registerClient(server, { redirect_uris: [uri] })).status;
    for (const good of [
      "https://app.example/cb",
      "http://localhost:1/cb",
      "http://[::1]/cb",
      "cursor://back",
    ])
      expect(await tried(good), good).toBe(201);
    for (const bad of [
      "http://app.example/cb",
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "https://app.example/cb#x",
      "https://user:pw@app.example/cb",
      "https://app.example/\ncb",
      "/cb",
      "",
    ])
      expect(await tried(bad), bad).toBe(400);
  });

  test("who may not be asked again is sent back with an error, not led on", async () => {
    const client = await newClient(server);
    const { location } = await begin(client, { prompt: "none" });
    expect(location.startsWith(redirect)).toBe(true);
    expect(new URL(location).searchParams.get("error")).toBe("consent_required");
    expect((await begin(client, { response_mode: "fragment" })).status).toBe(400);
    expect(
      new URL((await begin(client, { response_type: "token" })).location || "x:y").searchParams.get("code"),
    ).toBeNull();
  });
});

describe("a stranger's site", () => {
  const site = "https://app.example/cb?tenant=1";
  const faults: Record<string, string | undefined>[] = [
    { prompt: "none" },
    { response_type: "token" },
    { response_type: "code token" },
    { response_type: undefined },
    { response_type: "nonsense" },
    { code_challenge: undefined, code_challenge_method: undefined },
    { code_challenge_method: "plain" },
    { resource: "https://evil.example/mcp" },
    { request: "x.y.z" },
    { request_uri: "urn:x" },
    { max_age: "-1" },
    { state: undefined, prompt: "none" },
  ];
  const placeOf = (location: string) => (location === "" ? "" : new URL(location).origin);

  test("nobody is led to it before a person has seen who asks", async () => {
    const client = await newClient(server, { redirect_uris: [site, "cursor://back", redirect] });
    for (const wish of faults) {
      const shown = JSON.stringify(wish);
      const { status, location, text, headers } = await begin(client, { redirect_uri: site, ...wish });
      expect([status, location, headers.get("refresh")], shown).toEqual([400, "", null]);
      expect(text, shown).not.toContain("state-1");
      // A program of this machine is told, as ever, and so is nobody else's program.
      const local = await begin(client, { ...wish });
      expect(placeOf(local.location), shown).toBe(new URL(redirect).origin);
      const scheme = await begin(client, { redirect_uri: "cursor://back", ...wish });
      expect([scheme.status, scheme.location], shown).toEqual([400, ""]);
    }
    const { text } = await begin(client, { redirect_uri: site, prompt: "none" });
    expect(text).toContain("app.example");
    expect(text).not.toContain("tenant=1");
    expect((await begin(client, { redirect_uri: site })).isAsked).toBe(true);
  });

  test("a client that a person has allowed something is answered there, until that is revoked", async () => {
    const metadata = { redirect_uris: [site, "https://app.example/other"] };
    const [client, other] = [await newClient(server, metadata), await newClient(server, metadata)];
    const { verifier, code } = await codeFor(server, client, { wish: { redirect_uri: site } });
    const answered = await exchange(server, client, { code, verifier, redirect_uri: site });
    expect(answered.status).toBe(200);
    for (const wish of faults) {
      const { location } = await begin(client, { redirect_uri: site, ...wish });
      expect(placeOf(location), JSON.stringify(wish)).toBe("https://app.example");
    }
    const silent = await begin(client, { redirect_uri: site, prompt: "none" });
    const { searchParams } = new URL(silent.location);
    expect([searchParams.get("error"), searchParams.get("state"), searchParams.get("tenant")]).toEqual([
      "consent_required",
      "state-1",
      "1",
    ]);
    const led = async (by: Client, redirect_uri: string) =>
      (await begin(by, { redirect_uri, prompt: "none" })).location;
    expect(await led(client, "https://app.example/other")).toBe("");
    expect(await led(other, site)).toBe("");
    const { client_id } = client;
    const token = String(answered.body.refresh_token);
    expect((await tokenCall(server, { token, client_id }, "/oauth/revoke")).status).toBe(200);
    expect(await led(client, site)).toBe("");
  });
});

describe("PKCE", () => {
  test("only S256, and only with its verifier", async () => {
    const client = await newClient(server);
    const { challenge } = newVerifier();
    const faultOf = async (wish: Record<string, string | undefined>) =>
      new URL((await begin(client, wish)).location, "http://none").searchParams.get("error");
    expect((await begin(client, { code_challenge: challenge })).isAsked).toBe(true);
    expect(await faultOf({ code_challenge: challenge, code_challenge_method: "plain" })).toBe(
      "invalid_request",
    );
    expect(await faultOf({ code_challenge: challenge, code_challenge_method: undefined })).toBe(
      "invalid_request",
    );
    expect(await faultOf({ code_challenge: undefined, code_challenge_method: undefined })).toBe(
      "invalid_request",
    );
    const { code, verifier } = await codeFor(server, client);
    expect((await exchange(server, client, { code, verifier: newVerifier().verifier })).status).toBe(400);
    expect((await exchange(server, client, { code, verifier: "" })).status).toBe(400);
    expect((await exchange(server, client, { code, verifier })).status).toBe(200);
  });
});

describe("codes", () => {
  test("a code is of one client, one redirect and one resource", async () => {
    const [client, thief] = [await newClient(server), await newClient(server)];
    const { code, verifier } = await codeFor(server, client);
    expect((await exchange(server, thief, { code, verifier })).body.error).toBe("invalid_grant");
    expect(
      (await exchange(server, client, { code, verifier, redirect_uri: "http://127.0.0.1:1/callback" }))
        .status,
    ).toBe(400);
    expect((await exchange(server, client, { code: `${code}x`, verifier })).status).toBe(400);
    expect((await exchange(server, client, { code, verifier })).status).toBe(200);
    const second = await codeFor(server, client);
    const elsewhere = { code: second.code, verifier: second.verifier, resource: "https://evil.example/mcp" };
    expect((await exchange(server, client, elsewhere)).body.error).toBe("invalid_target");
  });

  test("a code that comes again ends what it has opened", async () => {
    const client = await newClient(server);
    const { code, verifier } = await codeFor(server, client);
    const { body } = await exchange(server, client, { code, verifier });
    expect(await reach(server, String(body.access_token))).toBe(200);
    expect((await exchange(server, client, { code, verifier })).body.error).toBe("invalid_grant");
    expect(await reach(server, String(body.access_token))).toBe(401);
    expect(
      await tokenCall(server, {
        grant_type: "refresh_token",
        client_id: client.client_id,
        refresh_token: String(body.refresh_token),
      }),
    ).toMatchObject({ status: 400 });
  });

  test("of many at once with one code, at most one gets a token, and it is over then", async () => {
    const client = await newClient(server);
    const { code, verifier } = await codeFor(server, client);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => exchange(server, client, { code, verifier })),
    );
    const good = answers.filter(({ status }) => status === 200);
    expect(good.length).toBeLessThanOrEqual(1);
    for (const { body } of good) expect(await reach(server, String(body.access_token))).toBe(401);
  });

  test("a resource elsewhere gets no code for here", async () => {
    const client = await newClient(server);
    expect((await begin(client, { resource: `${server.url}/rooms/kitchen/mcp` })).isAsked).toBe(true);
    for (const bad of [
      "https://evil.example/mcp",
      `${server.url}/admin`,
      `${server.url}.evil.example/mcp`,
      `${server.url}/mcp#x`,
    ]) {
      const { location } = await begin(client, { resource: bad });
      expect(new URL(location, "http://none").searchParams.get("error"), bad).toBe("invalid_target");
    }
  });
});

describe("refresh tokens", () => {
  test("of many at once, at most one gets a token, and the family is over then", async () => {
    const mine = await signIn(server);
    const answers = await Promise.all(Array.from({ length: 8 }, () => refreshCall(server, mine)));
    const good = answers.filter(({ status }) => status === 200);
    expect(good.length).toBeLessThanOrEqual(1);
    for (const { body } of good) expect(await reach(server, String(body.access_token))).toBe(401);
    expect(await reach(server, mine.access)).toBe(401);
  });

  test("one is of one client; an access token is none", async () => {
    const [mine, other] = [
      await signIn(server),
      await signIn(server, { ...allowed, participant: "other-client" }),
    ];
    expect((await refreshCall(server, { ...mine, client: other.client })).status).toBe(400);
    expect((await refreshCall(server, { ...mine, refresh: mine.access })).status).toBe(400);
    expect((await refreshCall(server, mine, { scope: "mcp openid admin" })).status).toBe(400);
    expect((await refreshCall(server, mine)).status).toBe(200);
    expect(await reach(server, other.access)).toBe(200);
  });

  test("nothing that opens something is in the store or in the log", async () => {
    const client = await newClient(server);
    const { code, verifier } = await codeFor(server, client);
    const { body } = await exchange(server, client, { code, verifier });
    const { readFileSync } = await import("node:fs");
    const bytes = ["state.db", "state.db-wal"]
      .map((name) => readFileSync(`${server.dataDir}/${name}`, "latin1"))
      .join("");
    const all = bytes + server.logged.join("");
    expect(all).toContain(client.client_id);
    for (const secret of [code, verifier, String(body.refresh_token), String(body.access_token)])
      expect(all.includes(secret)).toBe(false);
  });
});

describe("the person", () => {
  test("only the browser that was sent decides, and only once", async () => {
    const client = await newClient(server);
    const { browser, location } = await begin(client, {});
    const visitor = await visit(server);
    // Somebody who is logged in, but was sent the address by somebody else.
    const stranger = await human(server, newBrowser(), visitor);
    expect((await stranger.look(location)).status).toBe(404);
    expect((await stranger.decide(location)).status).toBe(404);
    const other = await begin(client, {});
    const mixed = await human(server, other.browser, visitor);
    expect((await mixed.decide(location)).status).toBe(404);
    const own = await human(server, browser, visitor);
    const tries = await Promise.all([own.decide(location), own.decide(location)]);
    expect(tries.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test("a decision needs the login, its half and its origin; a browser that was not sent gets no code", async () => {
    const client = await newClient(server);
    const { browser, location } = await begin(client, {});
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const bare = await fetch(`${server.url}${location}/decision`, {
      method: "POST",
      headers: { cookie, "content-type": "application/json" },
      body: JSON.stringify(allowed),
    });
    expect([401, 403]).toContain(bare.status);
    const visitor = await visit(server);
    const elsewhere = await visitor.call("POST", `${location}/decision`, {
      body: allowed,
      headers: { cookie: `${visitor.cookie}; ${cookie}`, origin: "http://evil.example" },
    });
    expect(elsewhere.status).toBe(403);
    const decided = await (await human(server, browser, visitor)).decide(location);
    expect(decided.status).toBe(200);
    // The address that leads back is worth nothing elsewhere.
    expect((await newBrowser().go(String(decided.body.location))).status).toBe(400);
    const back = await browser.go(String(decided.body.location));
    expect(new URL(back.location).searchParams.get("code")).not.toBeNull();
  });

  test("a login that came from a token alone says no, and never yes", async () => {
    const client = await newClient(server);
    const { browser, location } = await begin(client, {});
    const byToken = await visitBy(`${server.url}${await linkOf(server, await server.adminToken())}`);
    const person = await human(server, browser, byToken);
    expect((await person.look(location)).body).toMatchObject({ mayAllow: false });
    expect((await person.decide(location)).status).toBe(403);
    expect((await person.decide(location, { decision: "deny" })).status).toBe(200);
  });

  test("what is no decision allows nothing", async () => {
    const client = await newClient(server);
    const { browser, location } = await begin(client, {});
    const person = await human(server, browser);
    for (const bad of [
      {},
      { ...allowed, ttlMs: 400 * 86_400_000 },
      { ...allowed, ttlMs: 0 },
      { ...allowed, participant: "system:gateway" },
      { ...allowed, level: undefined },
      { ...allowed, level: "admin" },
      { ...allowed, tools: "**" },
      { ...allowed, topics: Array(100).fill("x") },
    ])
      expect((await person.decide(location, bad)).status, JSON.stringify(bad)).toBe(400);
    expect((await person.decide(location, { ...allowed, admin: true })).status).toBe(200);
  });

  test("its pages stand in no frame, and lead to nobody else", async () => {
    const client = await newClient(server);
    const { browser, location } = await begin(client, {});
    const page = await browser.go(`${server.url}${location}`);
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(page.headers.get("content-security-policy")).toMatch(/frame-ancestors 'none'/);
    expect(page.headers.get("content-security-policy")).toMatch(/script-src 'self'/);
    expect(page.headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("a name is bounded and says nothing unseen", async () => {
    const name = `Claude${"\u200b"} Code\u202e ${"x".repeat(500)}`;
    const client = await newClient(server, { client_name: name });
    const { browser, location } = await begin(client, {});
    const { body } = await (await human(server, browser)).look(location);
    const { name: shown } = body.client as { name: string };
    expect([shown.length <= 64, /\p{Cf}|\p{Cc}/u.test(shown)]).toEqual([true, false]);
    const markup = await newClient(server, { client_name: "<script>alert(1)</script>" });
    const bad = await newBrowser().go(authorizeUrl(server, markup, { redirect_uri: "https://<b>x</b>/" }));
    expect([bad.status, bad.text.includes("<b>")]).toEqual([400, false]);
  });
});

test("strangers register and begin only so often, and others go on", async () => {
  const crowded = await startTestServer();
  try {
    const statuses: number[] = [];
    for (let i = 0; i < 32; i++) statuses.push((await registerClient(crowded)).status);
    expect(statuses.slice(0, 30).every((status) => status === 201)).toBe(true);
    expect(statuses.slice(30)).toEqual([429, 429]);
    const { headers, body } = await registerClient(crowded);
    expect([body.error, Number(headers.get("retry-after")) > 0]).toEqual(["slow_down", true]);
    expect((await fetch(`${crowded.url}/.well-known/oauth-authorization-server`)).status).toBe(200);
  } finally {
    await crowded.stop();
  }
});

test("where it is switched off, nobody is sent anywhere", async () => {
  const off = await startTestServer({ authorization: { enabled: false } });
  try {
    const described = await fetch(`${off.url}/.well-known/oauth-protected-resource/mcp`);
    expect((await described.json()) as object).not.toHaveProperty("authorization_servers");
    expect((await fetch(`${off.url}/.well-known/oauth-authorization-server`)).status).toBe(404);
    expect((await registerClient(off)).status).toBe(404);
  } finally {
    await off.stop();
  }
});
