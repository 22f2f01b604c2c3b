import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { gatewayMigrations } from "../room/state-schema.ts";
import { type RevocationBounds, RevokedCapabilities } from "./revoked-capabilities.ts";

const now = 1_800_000_000_000;

function newDb(): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  for (const { up } of gatewayMigrations) if (typeof up === "string") db.exec(up);
  return db;
}

function listIn(db: DatabaseSync, bounds?: Partial<RevocationBounds>): RevokedCapabilities {
  return new RevokedCapabilities(db, bounds);
}

test("[AC-6-4] what was revoked is, by this issuer, in this topic, until it is over", () => {
  const list = listIn(newDb());
  list.add("kitchen", "oven", ["c1", "c2"], now + 1_000, now);
  expect(list.has("kitchen", "oven", "c1", now)).toBe(true);
  expect(list.has("kitchen", "oven", "c2", now + 999)).toBe(true);
  expect(list.has("kitchen", "oven", "c2", now + 1_000)).toBe(false);
  expect(list.has("kitchen", "oven", "c3", now)).toBe(false);
  expect(list.has("kitchen", "mallory", "c1", now)).toBe(false);
  expect(list.has("cellar", "oven", "c1", now)).toBe(false);
});

test("[AC-6-4] [AC-9-7] it is durable, and a shorter notice shortens nothing", () => {
  const db = newDb();
  listIn(db).add("kitchen", "oven", ["c1"], now + 5_000, now);
  listIn(db).add("kitchen", "oven", ["c1"], now + 1_000, now);
  expect(listIn(db).has("kitchen", "oven", "c1", now + 4_000)).toBe(true);
});

test("[AC-6-4] full is full for whoever fills it, and what is over makes room", () => {
  const list = listIn(newDb(), { idsMax: 5, idsPerIssuerMax: 3 });
  list.add("kitchen", "oven", ["a", "b", "c"], now + 1_000, now);
  expect(() => list.add("kitchen", "oven", ["d"], now + 1_000, now)).toThrow(/list of revoked/);
  list.add("kitchen", "stove", ["a", "b"], now + 9_000, now);
  expect(() => list.add("kitchen", "fridge", ["a"], now + 1_000, now)).toThrow(/list of revoked/);
  expect(list.has("kitchen", "oven", "a", now)).toBe(true);
  list.add("kitchen", "fridge", ["a"], now + 9_000, now + 1_000);
  expect(list.has("kitchen", "fridge", "a", now + 1_000)).toBe(true);
  expect(list.has("kitchen", "stove", "b", now + 1_000)).toBe(true);
});

test("[AC-6-4] one issuer's share is the same in one topic and in ten, so others can always revoke", () => {
  const list = listIn(newDb(), { idsMax: 5, idsPerIssuerMax: 3 });
  list.add("kitchen", "mallory", ["a", "b"], now + 1_000, now);
  list.add("cellar", "mallory", ["a"], now + 1_000, now);
  expect(() => list.add("attic", "mallory", ["a"], now + 1_000, now)).toThrow(/list of revoked/);
  list.add("kitchen", "oven", ["a"], now + 1_000, now);
  expect(list.has("kitchen", "oven", "a", now)).toBe(true);
});

test("[AC-9-3] [AC-6-4] an issuer that filled its share, and issuers that filled the list, stop no admin", () => {
  const list = listIn(newDb(), { idsMax: 20, idsPerIssuerMax: 9 });
  const ids = Array.from({ length: 9 }, (_, n) => `junk-${n}`);
  const until = now + 1_000;
  for (const issuer of ["mallory", "trudy"]) list.add("kitchen", issuer, ids, until, now);
  expect(() => list.add("kitchen", "mallory", ["more"], until, now)).toThrow(/list of revoked/);
  expect(() => list.add("kitchen", "oven", ["more"], until, now)).toThrow(/list of revoked/);
  list.addForAdmin("kitchen", "mallory", "stolen", until, now);
  list.addForAdmin("kitchen", "oven", "stolen", until, now);
  expect(list.has("kitchen", "mallory", "stolen", now)).toBe(true);
  expect(list.has("kitchen", "oven", "stolen", now)).toBe(true);
  // Control: the whole is bounded, for admins too.
  expect(() => list.addForAdmin("kitchen", "oven", "another", until, now)).toThrow(/list of revoked/);
});

test("[AC-6-4] many are found among many, in bounded memory", () => {
  const list = listIn(newDb());
  const ids = Array.from({ length: 20_000 }, (_, n) => `c${n}`);
  list.add("kitchen", "oven", ids, now + 1_000, now);
  expect(ids.every((id) => list.has("kitchen", "oven", id, now))).toBe(true);
  expect(ids.some((id) => list.has("kitchen", "oven", `x${id}`, now))).toBe(false);
  expect(list.bytes).toBeLessThanOrEqual(32 * 2 ** Math.ceil(Math.log2(ids.length)));
});
