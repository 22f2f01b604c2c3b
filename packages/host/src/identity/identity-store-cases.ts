// What every store of identity has to do.
import { expect, test, vi } from "vitest";
import { createManualClock } from "../clock.ts";
import { createLogger } from "../logging/log.ts";
import { createIdentity, type Identity } from "./identity.ts";
import type { IdentityStore, NewKey, NewToken } from "./identity-store.ts";

interface OpenStore {
  store: IdentityStore;
  /** The same store once more, as another process has it. */
  open(): Promise<IdentityStore>;
}

const log = createLogger({ level: "silent" });
const hourMs = 3_600_000;
const odd = `ä\u0000 "{},NULL`;

const keyOf = (kid: string, createdAt = 1_000): NewKey => ({
  ...{ kid, privateJwk: `{"private":"${kid}"}`, publicJwk: `{"public":"${kid}"}`, createdAt },
});
const tokenOf = (jti: string, more: Partial<NewToken> = {}): NewToken => ({
  ...{ jti, sub: undefined, claims: {}, iat: 10, exp: 20, forgetBefore: 0, owner: undefined },
  ...more,
});
const wishOf = (jti: string, now: number) => ({ jti, now, lifeMs: 1_000, spareMs: 500 });

/** Each call opens an empty one. */
export function identityStoreCases(open: () => Promise<OpenStore>): void {
  const identityOf = async (store: IdentityStore, clock = createManualClock()) => {
    const identity = await createIdentity({ store, clock, log });
    identity.close();
    return identity;
  };
  const mint = (identity: Identity, sub = "alice") =>
    identity.tokens.mint({ sub, topics: ["demo"] }, { ttlMs: hourMs });

  test("id and root secret are made once, whichever process comes first", async () => {
    const { store, open: again } = await open();
    const stores = [store, await again(), await again()];
    const ids = await Promise.all(stores.map((one, n) => one.gatewayId(() => `id ${n}`)));
    const secrets = await Promise.all(stores.map((one, n) => one.rootSecret(() => `secret ${n}`)));
    expect([new Set(ids).size, new Set(secrets).size]).toEqual([1, 1]);
    expect(await (await again()).gatewayId(() => "another")).toBe(ids[0]);
    expect(await (await again()).rootSecret(() => "another")).toBe(secrets[0]);
  });

  test("an id is its first issuer's, until that is configured no more", async () => {
    const { store, open: again } = await open();
    const other = await again();
    expect(await store.hasOwner(odd)).toBe(false);
    expect(await store.claimId(odd, "one")).toBe(true);
    expect(await other.claimId(odd, "two")).toBe(false);
    expect(await other.claimId(odd, "one")).toBe(true);
    expect(await other.hasOwner(odd)).toBe(true);
    const claims = await Promise.all([store, other].map((one, n) => one.claimId("race", `issuer ${n}`)));
    expect(claims.filter(Boolean)).toHaveLength(1);
    await store.claimId("kept", "two");
    await store.forgetOwners(["two", "three"]);
    expect(await other.claimId(odd, "two")).toBe(true);
    expect(await other.claimId("kept", "one")).toBe(false);
  });

  test("one key is active; it is remembered with each token, and the greatest end counts", async () => {
    const { store, open: again } = await open();
    const other = await again();
    const [one, two] = await Promise.all([
      store.reserve(tokenOf("a", { exp: 90 }), () => keyOf("k1")),
      other.reserve(tokenOf("b", { exp: 50 }), () => keyOf("k2")),
    ]);
    expect(one).toEqual(two);
    expect(one?.privateJwk).toBe(`{"private":"${one?.kid}"}`);
    await other.needKey(() => keyOf("k3"));
    const rows = await other.keys(true);
    expect(rows).toMatchObject([{ kid: one?.kid, publicJwk: `{"public":"${one?.kid}"}`, lastExp: 90 }]);
    expect(rows[0]?.retiredAt).toBeUndefined();
    expect(await other.keys()).toBe(await other.keys());
  });

  test("a key that is retired stays until its last token has ended, without its private half", async () => {
    const { store, open: again } = await open();
    await store.reserve(tokenOf("a", { exp: 5 }), () => keyOf("k1"));
    expect(await store.rotate(keyOf("k2", 2_000))).toBe("k1");
    const kids = async (of: IdentityStore) => (await of.keys(true)).map(({ kid }) => kid).toSorted();
    expect(await kids(await again())).toEqual(["k1", "k2"]);
    expect((await store.reserve(tokenOf("b"), () => keyOf("k9")))?.kid).toBe("k2");
    expect(await store.rotate(keyOf("k3", 6_000))).toBe("k2");
    expect(await kids(await again())).toEqual(["k2", "k3"]);
  });

  test("a token for an id of another issuer is not remembered; others are listed, newest first, until long over", async () => {
    const { store, open: again } = await open();
    await store.claimId("bob", "elsewhere");
    const bobs = tokenOf("bobs", { owner: { id: "bob", issuer: "here" } });
    expect(await store.reserve(bobs, () => keyOf("k1"))).toBeUndefined();
    expect(await store.listIssued(9)).toEqual([]);
    await store.reserve(tokenOf("old", { exp: 15 }), () => keyOf("k1"));
    const owner = { id: "ann", issuer: "here" };
    const claims = { topics: [odd] };
    await store.reserve(tokenOf(odd, { sub: odd, claims, iat: 11, owner }), () => keyOf("k1"));
    const other = await again();
    expect(await other.claimId("ann", "elsewhere")).toBe(false);
    expect(await other.listIssued(1)).toEqual([
      { jti: odd, sub: odd, claims, issuedAt: 11_000, expiresAt: 20_000, revokedAt: undefined, kid: "k1" },
    ]);
    expect((await other.listIssued(9)).map(({ jti }) => jti)).toEqual([odd, "old"]);
    await store.reserve(tokenOf("new", { iat: 12, forgetBefore: 16 }), () => keyOf("k1"));
    expect((await other.listIssued(9)).map(({ jti }) => jti)).toEqual(["new", odd]);
  });

  test("a revocation has a number above all before it, counts once, and ends with its token", async () => {
    const { store, open: again } = await open();
    const other = await again();
    await store.reserve(tokenOf("known", { exp: 20 }), () => keyOf("k1"));
    const first = await store.revoke(wishOf("known", 7_000));
    expect(first).toEqual({ revokedAt: 7_000, forgetAt: 20_500, known: true });
    expect(await other.revoke(wishOf("known", 8_000))).toEqual(first);
    expect(await other.revoke(wishOf(odd, 8_000))).toEqual({
      revokedAt: 8_000,
      forgetAt: 9_500,
      known: false,
    });
    const seen = await other.revokedSince(0);
    expect(seen.map(({ jti, forgetAt }) => [jti, forgetAt])).toEqual([
      ["known", 20_500],
      [odd, 9_500],
    ]);
    expect((await store.listIssued(1))[0]?.revokedAt).toBe(7_000);
    await store.revoke(wishOf("later", 9_500));
    const [rest] = await other.revokedSince(Math.max(...seen.map(({ number }) => number)));
    expect(rest?.jti).toBe("later");
    expect((await (await again()).revokedSince(0)).map(({ jti }) => jti)).toEqual(["known", "later"]);
  });

  test("of many that revoke at once nobody who reads on misses one", async () => {
    const { store, open: again } = await open();
    const stores = [store, await again(), await again()];
    const reader = await again();
    const seen: string[] = [];
    let [number, isDone] = [0, false];
    const read = async () => {
      for (const row of await reader.revokedSince(number)) {
        expect(row.number).toBeGreaterThan(number);
        number = row.number;
        seen.push(row.jti);
      }
    };
    const reading = (async () => {
      while (!isDone) {
        await read();
        await new Promise(setImmediate);
      }
    })();
    const names = Array.from({ length: 20 }, (_, n) => `t${n}`);
    await Promise.all(
      stores.map(async (one, n) => {
        for (const name of names) await one.revoke(wishOf(`${name} of ${n === 2 ? 1 : n}`, 1));
      }),
    );
    isDone = true;
    await reading;
    await read();
    expect(seen.toSorted()).toEqual(names.flatMap((name) => [`${name} of 0`, `${name} of 1`]).toSorted());
  });

  test("what one process mints, rotates and revokes counts in another", async () => {
    const { store, open: again } = await open();
    const [here, there] = [await identityOf(store), await identityOf(await again())];
    expect(here.secret("x")).toEqual(there.secret("x"));
    const { token, jti } = await mint(here);
    expect((await there.tokens.verify(token)).id).toBe("alice");
    const { kid, retired } = await here.keys.rotate();
    expect(retired).toEqual(expect.any(String));
    expect((await there.keys.jwks()).keys.map((key) => key.kid).toSorted()).toEqual(
      [kid, retired].toSorted(),
    );
    await there.tokens.verify((await mint(here)).token);
    await there.revocations.revoke(jti);
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const clock = createManualClock();
      const third = await createIdentity({ store: await again(), clock, log });
      await expect(third.tokens.verify(token)).rejects.toMatchObject({ code: "token_revoked" });
      const heard: string[] = [];
      third.revocations.onRevoked((one) => heard.push(one));
      await there.revocations.revoke("another");
      vi.advanceTimersByTime(500);
      await vi.waitFor(() => expect(heard).toEqual(["another"]));
      third.close();
    } finally {
      vi.useRealTimers();
    }
  });
}
