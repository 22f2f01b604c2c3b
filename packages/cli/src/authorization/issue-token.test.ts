import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { keyOf } from "./adapter.ts";
import { exchangeToken, type IssueParts, isCrowded } from "./issue-token.ts";
import type { Consent } from "./store/authorization-store.ts";
import { authorizationMigrations, createSqliteAuthorizationStore } from "./store/store-sqlite.ts";

const consent: Consent = {
  id: "x",
  client: "c",
  clientName: "Client",
  redirect: "http://127.0.0.1/callback",
  account: "alice",
  resource: "http://localhost/mcp",
  participant: "client-1",
  topics: [],
  tools: ["**"],
  level: "full",
  createdAt: 1,
  expiresAt: 10_000_000,
  usedAt: undefined,
};

async function stage(meanwhile: (store: IssueParts["store"]) => Promise<unknown> = async () => undefined) {
  const db = new DatabaseSync(":memory:");
  for (const { up } of authorizationMigrations) db.exec(up);
  const store = createSqliteAuthorizationStore(db);
  await store.addConsent(consent);
  const artifact = { payload: {}, consent: "x", uid: undefined, expiresAt: 9_000_000 };
  await store.put({ ...artifact, kind: "AccessToken", key: keyOf("opaque") });
  await store.put({ ...artifact, kind: "RefreshToken", key: keyOf("refresh") });
  const revoked: string[] = [];
  const parts = {
    store,
    clock: { now: () => 1_000 },
    audit: { recordNow: () => undefined },
    identity: {
      tokens: {
        async mint(_claims: object, { ttlMs }: { ttlMs: number }) {
          await meanwhile(store);
          return { token: "ours", jti: "j", expiresAt: 1_000 + ttlMs };
        },
      },
      revocations: {
        isRevoked: (jti: string) => revoked.includes(jti),
        revoke: (jti: string) => revoked.push(jti),
      },
    },
  } as unknown as IssueParts;
  return { parts, store, revoked };
}

const issued = JSON.stringify({ access_token: "opaque", scope: "mcp", refresh_token: "refresh" });

test("what the library issued is exchanged for a token of ours, and nothing else is changed", async () => {
  const { parts, store, revoked } = await stage();
  expect(await exchangeToken(parts, issued)).toEqual({
    access_token: "ours",
    token_type: "Bearer",
    expires_in: 3_600,
    scope: "mcp",
    refresh_token: "refresh",
  });
  expect(await store.find("AccessToken", keyOf("opaque"), 1_000)).toBeUndefined();
  expect([await store.tokensOf("x", 1_000), revoked]).toEqual([["j"], []]);
});

test("a consent that ends while its token is made leaves no token that counts", async () => {
  const { parts, revoked } = await stage((store) => store.endConsent("x"));
  expect(await exchangeToken(parts, issued)).toBeUndefined();
  expect(revoked).toEqual(["j"]);
});

test("where one of its tokens was revoked, the next one is not issued", async () => {
  const { parts, store, revoked } = await stage();
  await store.addToken({ jti: "before", consent: "x", expiresAt: 5_000 }, 1_000);
  revoked.push("before");
  expect(await exchangeToken(parts, issued)).toBeUndefined();
  expect(await store.consent("x", 1_000)).toBeUndefined();
});

test("a client that refreshes all the time is told to wait", async () => {
  const { parts, store } = await stage();
  for (let i = 0; i < 60; i++) {
    expect(await isCrowded(parts, "refresh")).toBe(false);
    await store.addToken({ jti: `t${i}`, consent: "x", expiresAt: 5_000 }, 1_000);
  }
  expect(await isCrowded(parts, "refresh")).toBe(true);
  expect(await isCrowded(parts, "unknown")).toBe(false);
});
