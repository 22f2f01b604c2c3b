import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DatabaseSync } from "node:sqlite";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { mayEnter } from "../principal.ts";
import { openState } from "../sqlite/state.ts";
import { createIdentity, type Identity } from "./identity.ts";
import { createSqliteIdentityStore } from "./identity-store-sqlite.ts";
import type { IssuerConfig } from "./issuers.ts";

const issuer = "https://id.example";
const log = createLogger({ level: "silent" });
// The library keeps its own time for fetched keys, so both clocks start together.
const clock = createManualClock(Date.now());
let keys: { ed: CryptoKeyPair; ec: CryptoKeyPair; rsa: CryptoKeyPair };
let jwks: { keys: JWK[] };
let db: DatabaseSync;
const opened: Identity[] = [];
const servers: Server[] = [];

type CryptoKeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

beforeAll(async () => {
  keys = {
    ed: await generateKeyPair("EdDSA"),
    ec: await generateKeyPair("ES256"),
    rsa: await generateKeyPair("RS256"),
  };
  jwks = {
    keys: await Promise.all(
      Object.entries(keys).map(async ([kid, { publicKey }]) => ({ ...(await exportJWK(publicKey)), kid })),
    ),
  };
});

beforeEach(() => {
  db = openState(":memory:");
});

afterEach(async () => {
  for (const identity of opened.splice(0)) identity.close();
  db.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  }
});

async function open(...issuers: Partial<IssuerConfig>[]): Promise<Identity> {
  const full = issuers.map((config) => ({
    issuer,
    ...(config.jwksUri === undefined ? { jwks } : {}),
    topics: ["lab/**"],
    ...config,
  }));
  const identity = await createIdentity({ store: createSqliteIdentityStore(db), clock, log, issuers: full });
  opened.push(identity);
  return identity;
}

async function token(
  identity: Identity,
  claims: object = {},
  { alg = "EdDSA", kid = "ed", typ = "mcpx+jwt" } = {},
): Promise<string> {
  const nowS = Math.floor(clock.now() / 1_000);
  const payload = {
    iss: issuer,
    aud: identity.gatewayId,
    sub: "alice",
    topics: ["**"],
    iat: nowS,
    exp: nowS + 600,
  };
  return new SignJWT({ ...payload, ...claims })
    .setProtectedHeader({ alg, kid, typ })
    .sign(keys[kid as keyof typeof keys].privateKey);
}

async function serveJwks(answer: { status?: number; body?: string } = {}) {
  let fetches = 0;
  const server = createServer((_request, response) => {
    fetches += 1;
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", location: "/elsewhere" });
    response.end(answer.body ?? JSON.stringify(jwks));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  return { jwksUri: `http://127.0.0.1:${port}/jwks`, server, fetches: () => fetches };
}

const refused = (code: string) => expect.objectContaining({ code });

test("a trusted issuer's tokens are accepted, by each of the default algorithms", async () => {
  const identity = await open({});
  for (const [kid, alg] of [
    ["ed", "EdDSA"],
    ["ec", "ES256"],
    ["rsa", "RS256"],
  ] as const) {
    const principal = await identity.tokens.verify(await token(identity, {}, { kid, alg }));
    expect(principal).toMatchObject({ id: "alice", issuer, admin: false });
  }
});

test("topics need both: the token's globs and the issuer's bounds", async () => {
  const identity = await open({ topics: ["lab/**", "demo"] });
  const wide = await identity.tokens.verify(await token(identity, { topics: ["**"] }));
  expect(["lab/1", "demo", "vault"].map((topic) => mayEnter(wide, topic))).toEqual([true, true, false]);
  const narrow = await identity.tokens.verify(await token(identity, { topics: ["demo", "vault"] }));
  expect(["lab/1", "demo", "vault"].map((topic) => mayEnter(narrow, topic))).toEqual([false, true, false]);
});

test("an issuer grants nothing it was not configured to grant", async () => {
  const identity = await open({ topics: undefined });
  const claims = { level: "full", admin: true, tools: ["**"], segment: "lab" };
  const principal = await identity.tokens.verify(await token(identity, claims));
  expect(principal).toMatchObject({
    level: "restricted",
    levelMax: "restricted",
    admin: false,
    toolBounds: [],
  });
  expect(principal.segment).toBeUndefined();
  expect(mayEnter(principal, "demo")).toBe(false);
});

test("its ceiling bounds levels; admin and segments by configuration only", async () => {
  const identity = await open({ level: "responder", admin: true, segments: ["lab"], tools: ["fs.*"] });
  const verify = async (claims: object) => identity.tokens.verify(await token(identity, claims));
  expect(await verify({ level: "full" })).toMatchObject({ level: "responder", levelMax: "responder" });
  expect(await verify({ level: "restricted" })).toMatchObject({ level: "restricted" });
  expect((await verify({})).level).toBeUndefined();
  expect(await verify({ admin: true, segment: "lab" })).toMatchObject({ admin: true, segment: "lab" });
  expect((await verify({ segment: "other" })).segment).toBeUndefined();
});

test("[AX-10.2-2] segments and scope are bounded by its configuration; without one it is none, and read", async () => {
  const verify = async (config: Partial<IssuerConfig>, claims: object) => {
    const identity = await open(config);
    const { segment, scope } = await identity.tokens.verify(await token(identity, claims));
    return { segment, scope };
  };
  const wide = { segment: "lab-arm", scope: "admin" };
  expect(await verify({}, wide)).toEqual({ segment: undefined, scope: "read" });
  const segments = ["lab-*", "edge"];
  expect(await verify({ segments, scope: "write" }, wide)).toEqual({ segment: "lab-arm", scope: "write" });
  expect(await verify({ segments, scope: "admin" }, wide)).toEqual({ segment: "lab-arm", scope: "admin" });
  expect(await verify({ segments, scope: "admin" }, { segment: "edge2", scope: "write" })).toEqual({
    segment: undefined,
    scope: "write",
  });
  expect(await verify({ segments, scope: "admin" }, { segment: "edge" })).toEqual({
    segment: "edge",
    scope: undefined,
  });
});

describe("[X0-5.1-3] refused:", () => {
  test("unknown issuers, look-alikes, and one issuer's key under another's name", async () => {
    const identity = await open({}, { issuer: "https://other.example", jwks: { keys: [] } });
    for (const iss of ["https://evil.example", `${issuer}/`, issuer.toUpperCase(), "https://other.example"]) {
      await expect(identity.tokens.verify(await token(identity, { iss }))).rejects.toThrow(
        refused("unauthorised"),
      );
    }
    // Its key may not sign as the gateway either.
    const own = await token(identity, { iss: identity.gatewayId });
    await expect(identity.tokens.verify(own)).rejects.toThrow(refused("unauthorised"));
  });

  test("other types, audiences and algorithms than configured", async () => {
    const identity = await open({ typ: "at+jwt", audience: ["https://mcpx.example"], algorithms: ["ES256"] });
    const aud = "https://mcpx.example";
    const good = { kid: "ec", alg: "ES256", typ: "at+jwt" };
    const verify = async (claims: object, header: object) =>
      identity.tokens.verify(await token(identity, claims, { ...good, ...header }));
    expect(await verify({ aud }, {})).toMatchObject({ id: "alice" });
    await expect(verify({ aud }, { typ: "mcpx+jwt" })).rejects.toThrow(refused("unauthorised"));
    await expect(verify({ aud }, { kid: "ed", alg: "EdDSA" })).rejects.toThrow(refused("unauthorised"));
    await expect(verify({}, {})).rejects.toThrow(refused("unauthorised"));
  });

  test("ids that are none", async () => {
    const identity = await open({});
    for (const sub of ["auth0|1234", "system:gateway", "gateway", "a b"]) {
      await expect(identity.tokens.verify(await token(identity, { sub }))).rejects.toThrow(
        refused("unauthorised"),
      );
    }
  });
});

test("an id belongs to the issuer that showed it first", async () => {
  const second = "https://second.example";
  const identity = await open({}, { issuer: second });
  await identity.tokens.mint({ sub: "root", topics: ["**"] }, { ttlMs: 60_000 });
  await expect(identity.tokens.verify(await token(identity, { sub: "root" }))).rejects.toThrow(
    "belongs to another issuer",
  );
  await identity.tokens.verify(await token(identity, { sub: "alice" }));
  await identity.tokens.verify(await token(identity, { sub: "bob", iss: second }));
  await expect(identity.tokens.verify(await token(identity, { sub: "alice", iss: second }))).rejects.toThrow(
    "belongs to another issuer",
  );
  await expect(identity.tokens.mint({ sub: "alice", topics: [] }, { ttlMs: 60_000 })).rejects.toThrow(
    "belongs to another issuer",
  );
  // Once the issuer is no longer configured its ids are free.
  const later = await open({ issuer: second });
  await later.tokens.verify(await token(later, { sub: "alice", iss: second }));
});

test("a token without jti can be revoked by the name it is given", async () => {
  const identity = await open({});
  const jws = await token(identity);
  const { jti } = await identity.tokens.verify(jws);
  expect(jti).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(await identity.revocations.revoke(jti)).toMatchObject({ known: false });
  await expect(identity.tokens.verify(jws)).rejects.toThrow(refused("token_revoked"));
});

test("configurations that would be dangerous do not start", async () => {
  for (const config of [
    { algorithms: ["HS256"] },
    { algorithms: ["none"] },
    { algorithms: ["EdDSA", "hs256"] },
    { jwksUri: "http://id.example/jwks" },
    { jwksUri: "file:///etc/passwd" },
    { jwks, jwksUri: "https://id.example/jwks" },
    { jwks: undefined },
  ]) {
    await expect(open(config)).rejects.toThrow(/^issuers: /);
  }
  await expect(open({}, {})).rejects.toThrow("given twice");
});

describe("keys over HTTP", () => {
  test("are fetched once for many tokens", async () => {
    const { jwksUri, fetches } = await serveJwks();
    const identity = await open({ jwksUri });
    const tokens = await Promise.all(["a", "b", "c"].map((sub) => token(identity, { sub })));
    await Promise.all(tokens.map((one) => identity.tokens.verify(one)));
    await expect(
      identity.tokens.verify(await token(identity, { sub: "d", iss: issuer })),
    ).resolves.toBeDefined();
    expect(fetches()).toBe(1);
  });

  test("an unknown kid asks again no sooner than allowed", async () => {
    const { jwksUri, fetches } = await serveJwks({ body: JSON.stringify({ keys: [] }) });
    const identity = await open({ jwksUri });
    for (let i = 0; i < 20; i += 1) {
      await expect(identity.tokens.verify(await token(identity, { sub: `a${i}` }))).rejects.toThrow(
        refused("unauthorised"),
      );
    }
    expect(fetches()).toBe(1);
  });

  test("[X0-5.1-3] an issuer that is down means 503 for its tokens, and nothing for ours", async () => {
    const { jwksUri, server } = await serveJwks();
    server.close();
    const identity = await open({ jwksUri });
    await expect(identity.tokens.verify(await token(identity))).rejects.toThrow(
      refused("identity_unavailable"),
    );
    const own = await identity.tokens.mint({ sub: "root", topics: ["**"] }, { ttlMs: 60_000 });
    expect(await identity.tokens.verify(own.token)).toMatchObject({ id: "root" });
    servers.splice(0);
  });

  test("it is asked again when it may be back, not by every token of a flood", async () => {
    const answer: { status?: number } = { status: 500 };
    const { jwksUri, fetches } = await serveJwks(answer);
    const identity = await open({ jwksUri });
    const jws = await token(identity);
    for (let i = 0; i < 50; i += 1) {
      await expect(identity.tokens.verify(jws)).rejects.toThrow(refused("identity_unavailable"));
    }
    expect(fetches()).toBe(1);
    answer.status = 200;
    clock.advance(1_000);
    expect(await identity.tokens.verify(jws)).toMatchObject({ id: "alice" });
  });

  test.each([
    ["a redirect", { status: 302 }],
    ["no JSON", { body: "<html>" }],
    ["no key set", { body: "[]" }],
    ["far too much", { body: JSON.stringify({ keys: [], padding: "x".repeat(300_000) }) }],
  ])("%s in place of keys lets nobody in", async (_what, answer) => {
    const { jwksUri } = await serveJwks(answer);
    const identity = await open({ jwksUri });
    await expect(identity.tokens.verify(await token(identity))).rejects.toThrow(
      refused("identity_unavailable"),
    );
  });
});
