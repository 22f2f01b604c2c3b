import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { openState } from "../sqlite/state.ts";
import { createIdentity, type Identity } from "./identity.ts";
import { createSqliteIdentityStore } from "./identity-store-sqlite.ts";

let folder: string;
let path: string;
let db: DatabaseSync;
let identity: Identity;
let clock = createManualClock();
const log = createLogger({ level: "silent" });
const hour = { ttlMs: 3_600_000 };

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcpx-tokens-"));
  path = join(folder, "state.db");
  db = openState(path);
  clock = createManualClock();
  identity = await createIdentity({ store: createSqliteIdentityStore(db), clock, log });
});

afterEach(() => {
  identity.close();
  db.close();
  rmSync(folder, { recursive: true });
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (part: string | undefined) => JSON.parse(Buffer.from(part ?? "", "base64url").toString());

/** A token signed with the gateway's true key, but any header and claims: what only a broken gateway could make. */
async function forge(header: object, claims: object): Promise<string> {
  await identity.tokens.mint({ topics: [] }, hour);
  const row = db.prepare("SELECT kid, private_jwk FROM signing_keys").get();
  const { kid, private_jwk } = row as { kid: string; private_jwk: string };
  const nowS = clock.now() / 1_000;
  const standard = { iss: identity.gatewayId, aud: identity.gatewayId, sub: "alice", topics: ["**"] };
  const head = encode({ alg: "EdDSA", typ: "mcpx+jwt", kid, ...header });
  const body = encode({ ...standard, iat: nowS, exp: nowS + 60, jti: "forged", ...claims });
  const signature = sign(null, Buffer.from(`${head}.${body}`), {
    key: JSON.parse(private_jwk),
    format: "jwk",
  });
  return `${head}.${body}.${signature.toString("base64url")}`;
}

const refused = (code: string) => expect.objectContaining({ code });

test("a token for one address names it beside the gateway, and is good here", async () => {
  const resource = "http://localhost:6279/mcp";
  const { token } = await identity.tokens.mint({ sub: "a", topics: [] }, { ...hour, resource });
  expect(decode(token.split(".")[1]).aud).toEqual([identity.gatewayId, resource]);
  expect(await identity.tokens.verify(token)).toMatchObject({ id: "a" });
});

test("[X0-5.1-2] a minted token says exactly what the contract says", async () => {
  const jwk = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" } as const;
  const { token, jti, expiresAt } = await identity.tokens.mint(
    {
      sub: "alice",
      topics: ["room:*"],
      level: "full",
      kind: "human",
      name: "Alice",
      tools: ["fs.*"],
      segment: "lab",
      scope: "write",
      admin: true,
      cnf: { jwk },
    },
    hour,
  );
  const [header, payload] = token.split(".");
  const kid = (await identity.keys.jwks()).keys[0]?.kid;
  expect(decode(header)).toEqual({ alg: "EdDSA", typ: "mcpx+jwt", kid });
  expect(decode(payload)).toEqual({
    iss: identity.gatewayId,
    aud: identity.gatewayId,
    sub: "alice",
    topics: ["room:*"],
    level: "full",
    kind: "human",
    name: "Alice",
    tools: ["fs.*"],
    segment: "lab",
    scope: "write",
    admin: true,
    cnf: { jwk },
    iat: clock.now() / 1_000,
    exp: clock.now() / 1_000 + 3_600,
    jti,
  });
  expect(await identity.tokens.verify(token)).toEqual({
    id: "alice",
    topics: ["room:*"],
    level: "full",
    levelMax: "full",
    kind: "human",
    name: "Alice",
    tools: ["fs.*"],
    segment: "lab",
    scope: "write",
    admin: true,
    key: jwk,
    issuedAt: clock.now(),
    expiresAt,
    jti,
    issuer: identity.gatewayId,
    tokenHash: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
});

test("claims that are left out are left out of the token", async () => {
  const { token } = await identity.tokens.mint({ topics: ["demo"], level: undefined }, hour);
  expect(Object.keys(decode(token.split(".")[1])).sort()).toEqual([
    "aud",
    "exp",
    "iat",
    "iss",
    "jti",
    "topics",
  ]);
  expect(await identity.tokens.verify(token)).toMatchObject({ id: undefined, admin: false, tools: [] });
});

test("what would not be accepted is not minted", async () => {
  const { mint } = identity.tokens;
  await expect(mint({ sub: "system:gateway", topics: [] }, hour)).rejects.toThrow(refused("bad_field"));
  await expect(mint({ topics: [""] }, hour)).rejects.toThrow(refused("bad_field"));
  await expect(mint({ topics: [], segment: "Lab" }, hour)).rejects.toThrow(refused("bad_field"));
  await expect(mint({ topics: [], scope: "root" as "read" }, hour)).rejects.toThrow("read, write or admin");
  for (const ttlMs of [0, -1, Number.NaN, 366 * 86_400_000]) {
    await expect(mint({ topics: [] }, { ttlMs })).rejects.toThrow(refused("bad_field"));
  }
  expect(await identity.revocations.list({ limit: 10 })).toEqual([]);
});

test("issued tokens are listed, and the store never holds one", async () => {
  const { token, jti } = await identity.tokens.mint({ sub: "alice", topics: ["demo"], level: "full" }, hour);
  expect(await identity.revocations.list({ limit: 10 })).toEqual([
    {
      jti,
      sub: "alice",
      claims: { sub: "alice", topics: ["demo"], level: "full" },
      issuedAt: clock.now(),
      expiresAt: clock.now() + 3_600_000,
      revokedAt: undefined,
      kid: expect.any(String),
    },
  ]);
  const rows = db.prepare("SELECT * FROM issued_tokens").all();
  expect(JSON.stringify(rows)).not.toContain(token.split(".")[2]);
});

test("[X0-5.1-2] a token ends at its exp, also when it was verified before", async () => {
  const { token, expiresAt } = await identity.tokens.mint(
    { sub: "alice", topics: ["demo"] },
    { ttlMs: 60_000 },
  );
  const fresh = await identity.tokens.mint({ sub: "alice", topics: ["demo"] }, { ttlMs: 60_000 });
  await identity.tokens.verify(token);
  clock.advance(expiresAt - clock.now() - 1);
  await identity.tokens.verify(token);
  clock.advance(1);
  await expect(identity.tokens.verify(token)).rejects.toThrow(refused("token_expired"));
  await expect(identity.tokens.verify(fresh.token)).rejects.toThrow(refused("token_expired"));
});

test("a token of one gateway is nothing to another", async () => {
  const { token } = await identity.tokens.mint({ sub: "alice", topics: ["**"] }, hour);
  const otherDb = openState(":memory:");
  const other = await createIdentity({ store: createSqliteIdentityStore(otherDb), clock, log });
  expect(other.gatewayId).not.toBe(identity.gatewayId);
  await expect(other.tokens.verify(token)).rejects.toThrow(refused("unauthorised"));
  other.close();
  otherDb.close();
});

test("the gateway keeps its id and keys over a restart", async () => {
  const { token } = await identity.tokens.mint({ sub: "alice", topics: ["demo"] }, hour);
  identity.close();
  db.close();
  db = openState(path);
  const again = await createIdentity({ store: createSqliteIdentityStore(db), clock, log });
  expect(again.gatewayId).toBe(identity.gatewayId);
  expect(await again.tokens.verify(token)).toMatchObject({ id: "alice" });
  identity = again;
});

describe("[X0-5.1-3] refused as unauthorised:", () => {
  const isRefused = async (token: string) =>
    expect(identity.tokens.verify(token)).rejects.toThrow(refused("unauthorised"));

  test("control: the forge makes good tokens when told to", async () => {
    expect(await identity.tokens.verify(await forge({}, {}))).toMatchObject({ id: "alice" });
  });

  test.each([
    ["nothing", ""],
    ["words", "not a token"],
    ["two parts", "eyJh.eyJh"],
    ["four parts", "eyJh.eyJh.eyJh.eyJh"],
    ["dots", ".."],
    ["bad base64", "%%%.%%%.%%%"],
    ["a header that is an array", `${encode([])}.${encode({})}.AAAA`],
    ["a header that is null", `${encode(null)}.${encode({})}.AAAA`],
    ["a token that is too long", `${"a".repeat(8_192)}.a.a`],
  ])("%s", (_what, token) => isRefused(token));

  test("alg none, with and without a signature", async () => {
    for (const alg of ["none", "None", "NONE"]) {
      const signed = await forge({ alg }, {});
      await isRefused(signed);
      await isRefused(`${signed.split(".").slice(0, 2).join(".")}.`);
    }
  });

  test("HS256 keyed with the public key, in each of its spellings", async () => {
    const [head, body] = (await forge({ alg: "HS256" }, {})).split(".");
    const published = (await identity.keys.jwks()).keys[0];
    for (const secret of [
      Buffer.from(published?.x ?? "", "base64url"),
      published?.x ?? "",
      JSON.stringify(published),
    ]) {
      const mac = createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url");
      await isRefused(`${head}.${body}.${mac}`);
    }
  });

  test("a key inside the token, or named by it", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const jwk = publicKey.export({ format: "jwk" });
    for (const header of [
      { jwk },
      { jku: "https://evil.example/jwks" },
      { x5u: "https://evil.example" },
      { crit: ["exp"] },
    ]) {
      await isRefused(await forge(header, {}));
    }
    const [, body] = (await forge({}, {})).split(".");
    const head = encode({ alg: "EdDSA", typ: "mcpx+jwt", jwk });
    await isRefused(
      `${head}.${body}.${sign(null, Buffer.from(`${head}.${body}`), privateKey).toString("base64url")}`,
    );
  });

  test("a stranger's key under our kid, no kid, an unknown kid", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const [head, body] = (await forge({}, {})).split(".");
    await isRefused(
      `${head}.${body}.${sign(null, Buffer.from(`${head}.${body}`), privateKey).toString("base64url")}`,
    );
    await isRefused(await forge({ kid: undefined }, {}));
    await isRefused(await forge({ kid: "unknown" }, {}));
    await isRefused(await forge({ kid: "__proto__" }, {}));
  });

  test("another type of token", async () => {
    for (const typ of [undefined, "JWT", "at+jwt", "mcpx+JWT", "application/mcpx+jwt", "dpop+jwt"]) {
      await isRefused(await forge({ typ }, {}));
    }
  });

  test("another issuer or audience", async () => {
    for (const claims of [
      { iss: "https://evil.example" },
      { iss: undefined },
      { iss: [identity.gatewayId] },
      { aud: undefined },
      { aud: `${identity.gatewayId}/` },
      { aud: identity.gatewayId.toUpperCase() },
      { aud: ["other"] },
    ]) {
      await isRefused(await forge({}, claims));
    }
  });

  test("times, ids and jti that cannot be", async () => {
    const nowS = clock.now() / 1_000;
    for (const claims of [
      { exp: undefined },
      { nbf: nowS + 30 },
      { iat: nowS + 120 },
      { exp: nowS + 400 * 86_400 },
      { sub: "system:gateway" },
      { sub: null },
      { jti: 7 },
      { jti: "" },
      { topics: "**" },
    ]) {
      await isRefused(await forge({}, claims));
    }
  });

  test("any change of a good token", async () => {
    const { token } = await identity.tokens.mint({ sub: "alice", topics: ["demo"] }, hour);
    await identity.tokens.verify(token);
    const [head, body, signature] = token.split(".");
    const raised = encode({ ...decode(body), admin: true });
    await isRefused(`${head}.${raised}.${signature}`);
    await isRefused(`${token}A`);
    await isRefused(`${token}=`);
    await isRefused(` ${token}`);
    await isRefused(`${head}.${body}.${signature?.slice(0, -4)}`);
    await identity.tokens.verify(token);
  });
});

test("an audience list with us in it is for us", async () => {
  const token = await forge({}, { aud: ["other", identity.gatewayId] });
  expect(await identity.tokens.verify(token)).toMatchObject({ id: "alice" });
});

test("[X0-5.1-3] a revoked token is refused at once, remembered or not", async () => {
  const { token, jti } = await identity.tokens.mint({ sub: "alice", topics: ["demo"] }, hour);
  await identity.tokens.verify(token);
  expect(await identity.revocations.revoke(jti)).toEqual({ jti, revokedAt: clock.now(), known: true });
  await expect(identity.tokens.verify(token)).rejects.toThrow(refused("token_revoked"));
  const again = await createIdentity({ store: createSqliteIdentityStore(db), clock, log });
  await expect(again.tokens.verify(token)).rejects.toThrow(refused("token_revoked"));
  again.close();
});

test("a store that cannot be read lets nobody in", async () => {
  const { token } = await identity.tokens.mint({ sub: "alice", topics: ["demo"] }, hour);
  const unseen = await identity.tokens.mint({ sub: "bob", topics: ["demo"] }, hour);
  await identity.tokens.verify(token);
  clock.advance(2_000);
  db.close();
  await expect(identity.tokens.verify(unseen.token)).rejects.toThrow(refused("identity_unavailable"));
  await expect(identity.tokens.verify(token)).rejects.toThrow(refused("identity_unavailable"));
  db.open();
});
