import { join } from "node:path";
import { openDatabase } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { aggregatorMigrations } from "./migrations.ts";
import { aggregatorId } from "./registration/aggregator-id.ts";
import { rootSince, storedRoot } from "./root-since.ts";

function database() {
  const db = openDatabase(join(":memory:"), { component: "aggregator", migrations: aggregatorMigrations });
  onTestFinished(() => db.close());
  return db;
}

test("[AX-3.1-1] in a new database every token knows the root's segment, also the one made before the first start", () => {
  const db = database();
  expect(storedRoot(db)).toBeUndefined();
  expect(rootSince(db, "infra", 5_500)).toBe(0);
  aggregatorId(db);
  expect(rootSince(db, "infra", 9_000)).toBe(0);
  expect(storedRoot(db)).toBe("infra");
});

test("[AX-3.1-1] in a database of an older version, and with another segment, it begins now, in whole seconds", () => {
  const db = database();
  aggregatorId(db);
  expect(rootSince(db, "infra", 5_500)).toBe(5_000);
  expect(rootSince(db, "infra", 9_000)).toBe(5_000);
  expect(rootSince(db, "plant", 9_900)).toBe(9_000);
  expect(rootSince(db, undefined, 11_000)).toBe(11_000);
  expect(storedRoot(db)).toBeUndefined();
  expect(rootSince(db, "plant", 12_000)).toBe(12_000);
});
