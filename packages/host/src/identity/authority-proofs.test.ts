import { createHmac, sign } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { DatabaseSync } from "node:sqlite";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { openState } from "../sqlite/state.ts";
import { createIdentity, type Identity } from "./identity.ts";
import { createSqliteIdentityStore } from "./identity-store-sqlite.ts";
import type { IssuerConfig } from "./issuers.ts";

const issuer = "https://id.example";
const name = "edge01.example.com";
const audience = "0b9a4c52-6f0e-4c1e-9a8e-0c5f3f1d2e3a";
const minute = 60_000;
const log = createLogger({ level: "silent" });
const clock = createManualClock();
let pair: Awaited<ReturnType<typeof generateKeyPair>>;
let jwks: { keys: JWK[] };
let db: DatabaseSync;
let identity: Identity;

beforeAll(async () => {
  pair = await generateKeyPair("ES256");
  jwks = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "ec" }] };
});

function open(config: Partial<IssuerConfig> = {}): Promise<Identity> {
  const keys = config.jwksUri === undefined ? { jwks } : {};
  return createIdentity({
    store: createSqliteIdentityStore(db),
    clock,
    log,
    issuers: [{ issuer, ...keys, ...config }],
  });
}

beforeEach(async () => {
  db = openState(":memory:");
  identity = await open({ authorities: ["edge01.example.com", "*.lab.example"] });
});

afterEach(() => {
  identity.close();
  db.close();
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

const times = () => ({ iat: clock.now() / 1_000, exp: clock.now() / 1_000 + 300 });

/** A proof signed with the gateway's true key, but any header and claims. */
async function forge(header: object, claims: object): Promise<string> {
  await identity.keys.jwks();
  const row = db.prepare("SELECT kid, private_jwk FROM signing_keys").get();
  const { kid, private_jwk } = row as { kid: string; private_jwk: string };
  const standard = { iss: identity.gatewayId, aud: audience, sub: name, jti: "forged", ...times() };
  const signed = `${encode({ alg: "EdDSA", typ: "mcpx-authority+jwt", kid, ...header })}.${encode({ ...standard, ...claims })}`;
  const signature = sign(null, Buffer.from(signed), { key: JSON.parse(private_jwk), format: "jwk" });
  return `${signed}.${signature.toString("base64url")}`;
}

/** A proof of the other issuer. */
function foreign(claims: object = {}, header: object = {}): Promise<string> {
  return new SignJWT({ iss: issuer, aud: audience, sub: name, jti: "foreign", ...times(), ...claims })
    .setProtectedHeader({ alg: "ES256", kid: "ec", typ: "mcpx-authority+jwt", ...header })
    .sign(pair.privateKey);
}

const verify = (jwt: string, question: object = {}) =>
  identity.verifyAuthorityProof(jwt, { name, audience, ...question });

const refused = (code: string) => expect.objectContaining({ code });

const isUnproven = (jwt: string, question: object = {}) =>
  expect(verify(jwt, question)).rejects.toThrow(refused("authority_unproven"));

test("[AX-4.2-5] what the gateway mints is a proof for this name and aggregator, until its end", async () => {
  const minted = await identity.mintAuthorityProof({ name, audience, ttlMs: 10 * minute });
  const { token, jti, expiresAt } = minted;
  expect(await verify(token)).toEqual({ jti, expiresAt });
  expect(expiresAt).toBe(clock.now() + 10 * minute);
  await isUnproven(token, { now: expiresAt });
  await isUnproven(token, { name: "edge02.example.com" });
  await isUnproven(token, { audience: identity.gatewayId });
  expect(await identity.revocations.list({ limit: 1 })).toMatchObject([
    { jti, sub: name, claims: { authority: name, audience } },
  ]);
});

test("[AX-4.2-5] one minted between two seconds counts at once, for all that long", async () => {
  clock.advance(123);
  const { token, jti } = await identity.mintAuthorityProof({ name, audience, ttlMs: 10 * minute });
  expect(await verify(token)).toMatchObject({ jti });
  clock.advance(877);
});

test("what would not be accepted is not minted", async () => {
  const mint = (wish: object) =>
    expect(identity.mintAuthorityProof({ name, audience, ttlMs: minute, ...wish })).rejects.toThrow(
      refused("bad_field"),
    );
  for (const ttlMs of [0, 999, -1, Number.NaN, 10 * minute + 1]) await mint({ ttlMs });
  for (const bad of [
    "",
    "Edge01.example.com",
    "edge01.example.com.",
    "*.example.com",
    "dns:a",
    "bücher.example",
  ]) {
    await mint({ name: bad });
  }
  await mint({ audience: "" });
  expect(await identity.revocations.list({ limit: 1 })).toEqual([]);
});

test("a proof outlives the rotation of the key it was signed with", async () => {
  const { token, jti } = await identity.mintAuthorityProof({ name, audience, ttlMs: minute });
  await identity.keys.rotate();
  expect(await verify(token)).toMatchObject({ jti });
});

test("a revoked proof is none", async () => {
  const { token, jti } = await identity.mintAuthorityProof({ name, audience, ttlMs: minute });
  await identity.revocations.revoke(jti);
  await isUnproven(token);
});

describe("[AX-4.2-5] refused:", () => {
  test("control: the forge makes good proofs when told to", async () => {
    expect(await verify(await forge({}, {}))).toMatchObject({ jti: "forged" });
    expect(await verify(await foreign())).toMatchObject({ jti: "foreign" });
  });

  test.each([
    ["no name", () => ({ sub: undefined })],
    ["a name that is a list", () => ({ sub: [name] })],
    ["the name in capitals", () => ({ sub: "Edge01.example.com" })],
    ["a dot at the end", () => ({ sub: `${name}.` })],
    ["a name with its scheme", () => ({ sub: `dns:${name}` })],
    ["a name above", () => ({ sub: "example.com" })],
    ["a name below", () => ({ sub: `x.${name}` })],
    ["a wildcard", () => ({ sub: "*.example.com" })],
    ["a Cyrillic e", () => ({ sub: "еdge01.example.com" })],
    ["a zero byte", () => ({ sub: `${name}\0` })],
    ["no audience", () => ({ aud: undefined })],
    ["another audience", () => ({ aud: "1b9a4c52-6f0e-4c1e-9a8e-0c5f3f1d2e3a" })],
    ["the audience in capitals", () => ({ aud: audience.toUpperCase() })],
    ["a list of audiences", () => ({ aud: [audience] })],
    ["no end", () => ({ exp: undefined })],
    ["an end now", () => ({ exp: clock.now() / 1_000 })],
    ["an end past ten minutes", () => ({ exp: clock.now() / 1_000 + 601 })],
    ["an end that is text", () => ({ exp: String(clock.now() / 1_000 + 60) })],
    ["made in the future", () => ({ iat: clock.now() / 1_000 + 61 })],
    ["not valid yet", () => ({ nbf: clock.now() / 1_000 + 30 })],
    ["no jti", () => ({ jti: undefined })],
    ["an empty jti", () => ({ jti: "" })],
    ["a jti that is a number", () => ({ jti: 7 })],
    ["a long jti", () => ({ jti: "x".repeat(129) })],
    ["no issuer", () => ({ iss: undefined })],
    ["an unknown issuer", () => ({ iss: "https://evil.example" })],
  ])("%s", async (_what, claims) => {
    await isUnproven(await forge({}, claims()));
    const { iss, ...rest } = { iss: issuer, ...claims() };
    await isUnproven(await foreign({ iss, ...rest }));
  });

  test("clocks may differ by a minute", async () => {
    expect(await verify(await forge({}, { iat: clock.now() / 1_000 + 60 }))).toMatchObject({ jti: "forged" });
  });

  test("punycode and its letters are two names, and letters are none", async () => {
    const ascii = "xn--bcher-kva.example";
    const proof = await forge({}, { sub: ascii });
    expect(await verify(proof, { name: ascii })).toMatchObject({ jti: "forged" });
    await isUnproven(proof, { name: "bücher.example" });
    await isUnproven(await forge({}, { sub: "bücher.example" }), { name: "bücher.example" });
    await isUnproven(await forge({}, { sub: "bücher.example" }), { name: ascii });
  });

  test("a name asked for that is none, whatever the proof says", async () => {
    for (const bad of ["Edge01.example.com", `${name}.`, "*.example.com", ""]) {
      await isUnproven(await forge({}, { sub: bad }), { name: bad });
    }
  });

  test("alg none, with and without a signature", async () => {
    for (const alg of ["none", "None", "NONE"]) {
      const signed = await forge({ alg }, {});
      await isUnproven(signed);
      await isUnproven(`${signed.split(".").slice(0, 2).join(".")}.`);
    }
  });

  test("HS256 keyed with the public key", async () => {
    const [head, body] = (await forge({ alg: "HS256" }, {})).split(".");
    const published = (await identity.keys.jwks()).keys[0];
    for (const secret of [Buffer.from(published?.x ?? "", "base64url"), JSON.stringify(published)]) {
      const mac = createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url");
      await isUnproven(`${head}.${body}.${mac}`);
    }
    const [, foreignBody] = (await foreign()).split(".");
    const foreignHead = encode({ alg: "HS256", kid: "ec", typ: "mcpx-authority+jwt" });
    const mac = createHmac("sha256", JSON.stringify(jwks.keys[0])).update(`${foreignHead}.${foreignBody}`);
    await isUnproven(`${foreignHead}.${foreignBody}.${mac.digest("base64url")}`);
  });

  test("one signer's key under another's name, and a key the proof brings along", async () => {
    await isUnproven(await forge({}, { iss: issuer }));
    await isUnproven(await foreign({ iss: identity.gatewayId }));
    await isUnproven(await foreign({}, { jwk: jwks.keys[0] }));
  });

  test("a change of a good proof, too long a one, and none", async () => {
    const { token } = await identity.mintAuthorityProof({ name, audience, ttlMs: minute });
    for (const bad of [
      `${token}A`,
      `${token}=`,
      token.slice(0, -4),
      "",
      "a.b.c",
      `${"a".repeat(8_192)}.a.a`,
    ]) {
      await isUnproven(bad);
    }
  });
});

test("[AX-4.2-5] a room's token is no proof, and a proof no token: of ours and of an issuer's", async () => {
  const { token: own } = await identity.tokens.mint({ topics: ["**"], segment: "edge" }, { ttlMs: minute });
  await isUnproven(own);
  // With the claims of a proof, too.
  await isUnproven(await forge({ typ: "mcpx+jwt" }, {}));
  for (const typ of ["mcpx+jwt", "at+jwt", "JWT", "MCPX-AUTHORITY+JWT", undefined]) {
    await isUnproven(await foreign({}, { typ }));
  }
  const { token: proof } = await identity.mintAuthorityProof({
    name,
    audience: identity.gatewayId,
    ttlMs: minute,
  });
  for (const one of [proof, await foreign({ aud: identity.gatewayId, sub: "alice" })]) {
    await expect(identity.tokens.verify(one)).rejects.toThrow("of another type");
  }
});

describe("[AX-4.2-3] an issuer proves only the names it is configured for", () => {
  const proves = async (sub: string) => {
    const proof = await foreign({ sub });
    return verify(proof, { name: sub }).then(
      () => true,
      (error) => error.detail,
    );
  };

  test("exact names, and one label before a suffix", async () => {
    expect(await proves("edge01.example.com")).toBe(true);
    expect(await proves("arm.lab.example")).toBe(true);
    for (const other of [
      "edge02.example.com",
      "example.com",
      "lab.example",
      "a.b.lab.example",
      "armlab.example",
    ]) {
      expect([other, await proves(other)]).toEqual([other, "its issuer may not speak for this name"]);
    }
  });

  test("none without configuration", async () => {
    identity.close();
    identity = await open();
    expect(await proves(name)).toBe("its issuer may not speak for this name");
  });
});

test("an issuer that is down is no reason to call a proof wrong, or right", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  identity.close();
  identity = await open({ jwksUri: `http://127.0.0.1:${port}/`, authorities: [name] });
  await expect(verify(await foreign())).rejects.toThrow(refused("identity_unavailable"));
});
