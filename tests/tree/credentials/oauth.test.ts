// A server that wants OAuth, from the first refusal to the last renewal.
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStage, type Stage } from "./support/stage.ts";

let stage: Stage;

beforeEach(async () => {
  stage = await openStage();
});

afterEach(() => stage.stop());

describe("the first time", () => {
  test("a refused request sends a person to the authorization server and then gets through", async () => {
    const credentials = stage.credentials();
    expect(await credentials.headers()).toEqual({});
    expect(await stage.request(credentials)).toBe(200);
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.shown).toHaveLength(1);
    expect(stage.pages).toEqual([{ status: 200, text: "Done. You can close this window." }]);
  });

  test("code, challenge, state and resource go along, and the redirect comes back to this machine alone", async () => {
    await stage.request(stage.credentials());
    const [params] = stage.issuer.authorizations;
    expect(params?.get("code_challenge_method")).toBe("S256");
    expect(params?.get("state")).toMatch(/^[\w-]{43}$/);
    expect(params?.get("resource")).toBe(stage.server.url);
    expect(params?.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    expect(stage.issuer.tokenRequests).toMatchObject([
      { grant: "authorization_code", resource: stage.server.url },
    ]);
  });

  test("the resource is told exactly as the server writes it", async () => {
    stage.server.description = { resource: new URL(stage.server.url).origin };
    await stage.request(stage.credentials());
    expect(stage.issuer.authorizations[0]?.get("resource")).toBe(new URL(stage.server.url).origin);
  });

  test("many requests refused at once cost one authorisation", async () => {
    const credentials = stage.credentials();
    const all = await Promise.all(Array.from({ length: 20 }, () => stage.request(credentials)));
    expect(new Set(all)).toEqual(new Set([200]));
    expect(stage.shown).toHaveLength(1);
  });

  test("whoever shows the address is told when it is over, and whether it was granted", async () => {
    const ends: Promise<boolean>[] = [];
    const authorise = (goes: boolean) => async (url: URL, over: Promise<boolean>) => {
      ends.push(over);
      if (goes) await fetch(url);
    };
    const credentials = stage.credentials({ authorise: authorise(false), authoriseTimeoutMs: 50 });
    await expect(stage.request(credentials)).rejects.toMatchObject({
      detail: "nobody completed the authorisation in time",
    });
    expect(await stage.request(stage.credentials({ authorise: authorise(true) }))).toBe(200);
    expect(await Promise.all(ends)).toEqual([false, true]);
  });

  test("without anybody to ask, the refusal stands and says so", async () => {
    const refused = stage.request(stage.credentials({ authorise: undefined }));
    await expect(refused).rejects.toMatchObject({
      code: "server_unauthorised",
      detail: "the server needs authorisation, and there is no terminal or page to show its address",
    });
  });

  test("a refusal that is not for lack of scope is not ours to mend", async () => {
    expect(await stage.credentials().refused(403, 'Bearer error="access_denied"')).toBe(false);
    expect(await stage.credentials().refused(403, undefined)).toBe(false);
    expect(stage.shown).toEqual([]);
  });
});

describe("later", () => {
  test("what was authorised is there after a restart", async () => {
    await stage.request(stage.credentials());
    expect(await stage.request(stage.credentials())).toBe(200);
    expect(stage.shown).toHaveLength(1);
  });

  test("tokens are renewed before they end, once for all who ask", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    const before = await credentials.headers();
    stage.clock.advance(3_571_000);
    const after = await Promise.all(Array.from({ length: 20 }, () => credentials.headers()));
    expect(new Set(after.map(({ authorization }) => authorization)).size).toBe(1);
    expect(after[0]).not.toEqual(before);
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.issuer.tokenRequests.map(({ grant }) => grant)).toEqual([
      "authorization_code",
      "refresh_token",
    ]);
    expect(stage.issuer.tokenRequests[1]?.resource).toBe(stage.server.url);
    expect(stage.shown).toHaveLength(1);
  });

  test("somebody who takes their time to authorise more holds up nobody else", async () => {
    stage.server.needs.write = "files:write";
    await stage.request(stage.credentials());
    const asked = Promise.withResolvers<void>();
    const decided = Promise.withResolvers<void>();
    const credentials = stage.credentials({
      async authorise(url) {
        asked.resolve();
        await decided.promise;
        await fetch(url);
      },
    });
    const stepUp = stage.request(credentials, "write");
    await asked.promise;
    stage.clock.advance(3_571_000);
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.issuer.tokenRequests).toHaveLength(2);
    decided.resolve();
    expect(await stepUp).toBe(200);
    expect(await stage.request(credentials, "write")).toBe(200);
  });

  test("what a person grants is not lost to a renewal that comes after it", async () => {
    stage.server.needs.write = "files:write";
    const credentials = stage.credentials();
    await stage.request(credentials);
    const sent = await credentials.headers();
    const released = Promise.withResolvers<void>();
    stage.issuer.behaviour = { refreshesAfter: released.promise };
    stage.clock.advance(3_571_000);
    const renewal = credentials.headers();
    await expect.poll(() => stage.issuer.tokenRequests.length).toBe(2);
    const challenge = 'Bearer error="insufficient_scope", scope="files:write"';
    expect(await credentials.refused(403, challenge, sent)).toBe(true);
    released.resolve();
    await renewal;
    expect(await stage.request(credentials, "write")).toBe(200);
    expect(stage.shown).toHaveLength(2);
  });

  test("a token the server does not take any more is renewed without anybody being asked", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    stage.issuer.tokens.clear();
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.shown).toHaveLength(1);
  });

  test("a refusal of what has been renewed meanwhile costs nothing", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    const sent = await credentials.headers();
    stage.issuer.tokens.clear();
    await stage.request(credentials);
    const asked = stage.issuer.tokenRequests.length;
    expect(await credentials.refused(401, undefined, sent)).toBe(true);
    expect(stage.issuer.tokenRequests).toHaveLength(asked);
  });

  test("when the refresh token is refused, the person is asked again", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    stage.issuer.revoke();
    stage.issuer.tokens.clear();
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.shown).toHaveLength(2);
    expect(stage.issuer.registrations).toHaveLength(1);
  });

  test("renewed and refused again at once, the person is asked", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    stage.issuer.tokens.clear();
    await stage.request(credentials);
    stage.issuer.tokens.clear();
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.shown).toHaveLength(2);
  });

  test("an authorization server out of order costs nobody their tokens", async () => {
    const credentials = stage.credentials();
    await stage.request(credentials);
    const before = await credentials.headers();
    stage.issuer.behaviour = { tokenFailure: { status: 503, body: "out of order" } };
    stage.clock.advance(3_600_000);
    expect(await credentials.headers()).toEqual(before);
    await expect(credentials.refused(401, undefined)).rejects.toMatchObject({ code: "server_unauthorised" });
    stage.issuer.behaviour = {};
    stage.issuer.tokens.clear();
    expect(await stage.request(credentials)).toBe(200);
    expect(stage.shown).toHaveLength(1);
  });

  test("a store that fails is told of, and asked again the next time", async () => {
    await stage.request(stage.credentials());
    let isBroken = true;
    const store = {
      ...stage.store,
      read: async (key: string) => (isBroken ? Promise.reject(new Error("no disk")) : stage.store.read(key)),
    };
    const credentials = stage.credentials({ store });
    await expect(credentials.headers()).rejects.toMatchObject({ code: "storage_failed" });
    isBroken = false;
    expect(await stage.request(credentials)).toBe(200);
  });

  test("tokens of a name go to no other address", async () => {
    await stage.request(stage.credentials());
    const elsewhere = stage.credentials({ url: "https://elsewhere.example/mcp" });
    expect(await elsewhere.headers()).toEqual({});
  });
});

describe("scopes", () => {
  test("asked for are those of the refusal, else those of the description, else those of the configuration", async () => {
    stage.server.needs.write = "files:write";
    stage.server.description = { scopes_supported: ["files:read", "files:list"] };
    await stage.request(stage.credentials({ key: "a" }), "write");
    await stage.request(stage.credentials({ key: "b", config: { scope: "unused" } }));
    stage.server.description = {};
    await stage.request(stage.credentials({ key: "c", config: { scope: "mine" } }));
    await stage.request(stage.credentials({ key: "d" }));
    const asked = stage.issuer.authorizations.map((params) => params.get("scope"));
    expect(asked).toEqual(["files:write", "files:read files:list", "mine", null]);
  });

  test("a call that needs more asks for more and keeps what it had", async () => {
    Object.assign(stage.server.needs, { read: "files:read", write: "files:write" });
    const credentials = stage.credentials();
    expect(await stage.request(credentials, "read")).toBe(200);
    expect(await stage.request(credentials, "write")).toBe(200);
    expect(await stage.request(credentials, "read")).toBe(200);
    const asked = stage.issuer.authorizations.map((params) => params.get("scope"));
    expect(asked).toEqual(["files:read", "files:read files:write"]);
    expect(stage.issuer.tokenRequests.map(({ grant }) => grant)).not.toContain("refresh_token");
  });

  test("a server that refuses what was granted does not make anybody grant it again", async () => {
    stage.server.needs.read = "files:read";
    // Granted offline access is often not listed.
    stage.issuer.behaviour = { metadata: { scopes_supported: ["offline_access"] }, grants: "files:read" };
    const credentials = stage.credentials();
    await stage.request(credentials, "read");
    const challenge = 'Bearer error="insufficient_scope", scope="files:read"';
    stage.server.always = { status: 403, challenge };
    expect(await stage.request(credentials, "read")).toBe(403);
    expect(stage.shown).toHaveLength(1);
  });

  test("a person who keeps granting less is asked three times in ten minutes, not more", async () => {
    stage.server.needs.write = "files:write";
    stage.issuer.behaviour = { grants: "files:read" };
    const credentials = stage.credentials();
    for (const expected of [403, 403]) expect(await stage.request(credentials, "write")).toBe(expected);
    expect(await stage.request(credentials, "write")).toBe(403);
    await expect(stage.request(credentials, "write")).rejects.toMatchObject({ code: "server_unauthorised" });
    expect(stage.shown).toHaveLength(3);
    stage.clock.advance(600_001);
    stage.issuer.behaviour = {};
    expect(await stage.request(credentials, "write")).toBe(200);
  });

  test("a server that takes no token at all has people asked three times, not more", async () => {
    stage.server.always = { status: 401, challenge: "Bearer" };
    const credentials = stage.credentials();
    let refusals = 0;
    for (let at = 0; at < 10; at += 1)
      refusals += Number((await stage.request(credentials).catch(() => 401)) === 401);
    expect(refusals).toBe(10);
    expect(stage.shown).toHaveLength(3);
  });

  test("offline_access is asked for only where it is offered", async () => {
    stage.server.needs.read = "files:read";
    await stage.request(stage.credentials({ key: "a" }), "read");
    stage.issuer.behaviour = { metadata: { scopes_supported: ["files:read", "offline_access"] } };
    await stage.request(stage.credentials({ key: "b" }), "read");
    const asked = stage.issuer.authorizations.map((params) => params.get("scope"));
    expect(asked).toEqual(["files:read", "files:read offline_access"]);
  });
});
