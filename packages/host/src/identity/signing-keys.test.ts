import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { openState } from "../sqlite/state.ts";
import { createIdentity, type Identity } from "./identity.ts";
import { createSqliteIdentityStore } from "./identity-store-sqlite.ts";

let folder: string;
let db: DatabaseSync;
let identity: Identity;
/** A second process over the same file. */
let otherDb: DatabaseSync;
let other: Identity;
let clock = createManualClock();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "mcpx-keys-"));
  clock = createManualClock();
  const log = createLogger({ level: "silent" });
  db = openState(join(folder, "state.db"));
  otherDb = openState(join(folder, "state.db"));
  identity = await createIdentity({ store: createSqliteIdentityStore(db), clock, log });
  other = await createIdentity({ store: createSqliteIdentityStore(otherDb), clock, log });
});

afterEach(() => {
  identity.close();
  other.close();
  db.close();
  otherDb.close();
  rmSync(folder, { recursive: true });
});

const kids = async (of: Identity) => (await of.keys.jwks()).keys.map(({ kid }) => kid);
const minted = async (by: Identity, ttlMs: number) =>
  (await by.tokens.mint({ sub: "alice", topics: ["demo"] }, { ttlMs })).token;

test("the first use makes a key; only its public half is published", async () => {
  const { keys } = await identity.keys.jwks();
  expect(keys).toEqual([
    { kty: "OKP", crv: "Ed25519", x: expect.any(String), kid: expect.any(String), alg: "EdDSA", use: "sig" },
  ]);
  expect(await identity.keys.jwks()).toEqual({ keys });
  expect(await other.keys.jwks()).toEqual({ keys });
});

test("a key made after strangers' kids were looked up is known all the same", async () => {
  expect(await identity.keys.find("unknown")).toBeUndefined();
  expect(await kids(identity)).toHaveLength(1);
  await identity.tokens.verify(await minted(identity, 60_000));
});

test("after a rotation the old key verifies until the last token it signed has ended", async () => {
  const brief = await minted(identity, 60_000);
  const long = await minted(identity, 600_000);
  const [oldKid] = await kids(identity);
  const { kid, retired } = await identity.keys.rotate();
  expect(retired).toBe(oldKid);
  expect(new Set(await kids(identity))).toEqual(new Set([oldKid, kid]));
  const renewed = await minted(identity, 3_600_000);
  for (const token of [brief, long, renewed]) await identity.tokens.verify(token);

  clock.advance(599_999);
  await identity.tokens.verify(long);
  expect(await kids(identity)).toHaveLength(2);
  clock.advance(1);
  expect(await kids(identity)).toEqual([kid]);
  await identity.tokens.verify(renewed);
  await identity.keys.rotate();
  expect(db.prepare("SELECT kid FROM signing_keys WHERE kid = ?").get(String(oldKid))).toBeUndefined();
});

test("a retired key that signed nothing is gone at once", async () => {
  const [unused] = await kids(identity);
  const { kid } = await identity.keys.rotate();
  expect(await kids(identity)).toEqual([kid]);
  expect(kid).not.toBe(unused);
});

test("a retired key's private half is forgotten", async () => {
  await minted(identity, 60_000);
  const { retired } = await identity.keys.rotate();
  const row = db.prepare("SELECT private_jwk FROM signing_keys WHERE kid = ?").get(String(retired));
  expect(row).toEqual({ private_jwk: null });
});

test("what another process mints or rotates is known here at once", async () => {
  await identity.tokens.verify(await minted(identity, 60_000));
  await identity.tokens.verify(await minted(other, 60_000));
  const { kid } = await other.keys.rotate();
  await identity.tokens.verify(await minted(other, 60_000));
  expect(await kids(identity)).toContain(kid);
  // And this process signs with the new key, not with the one it knew.
  const token = await minted(identity, 60_000);
  expect(JSON.parse(Buffer.from(token.split(".")[0] ?? "", "base64url").toString()).kid).toBe(kid);
  await other.tokens.verify(token);
});

test("two processes that start together make one key", async () => {
  await Promise.all([minted(identity, 60_000), minted(other, 60_000)]);
  expect(await kids(identity)).toHaveLength(1);
  expect(await kids(other)).toEqual(await kids(identity));
});
