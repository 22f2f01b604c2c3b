import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DatabaseOptions, openDatabase } from "./database.ts";

const first = { version: 1, up: "CREATE TABLE birds (name TEXT NOT NULL) STRICT" };
const second = { version: 2, up: "ALTER TABLE birds ADD COLUMN legs INTEGER NOT NULL DEFAULT 2" };
const birds = (...migrations: DatabaseOptions["migrations"]): DatabaseOptions => ({
  component: "birds",
  migrations,
});

let dir: string;
let path: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "mcpx-database-"));
  path = join(dir, "store.db");
});

afterEach(() => rmSync(dir, { recursive: true }));

const modeOf = (file: string) => statSync(file).mode & 0o777;

test("a new store is brought to the newest version", () => {
  using db = openDatabase(path, birds(first, second));
  db.exec("INSERT INTO birds (name) VALUES ('wren')");
  expect(db.prepare("SELECT * FROM birds").all()).toEqual([{ name: "wren", legs: 2 }]);
});

test("an older store keeps its rows and gets only the migrations it lacks", () => {
  {
    using db = openDatabase(path, birds(first));
    db.exec("INSERT INTO birds VALUES ('wren')");
  }
  using db = openDatabase(path, birds(first, second));
  expect(db.prepare("SELECT * FROM birds").all()).toEqual([{ name: "wren", legs: 2 }]);
});

test("opening a store again changes nothing", () => {
  openDatabase(path, birds(first, second)).close();
  using db = openDatabase(path, birds(first, second));
  expect(db.prepare("SELECT * FROM birds").all()).toEqual([]);
});

test("components share a store without knowing of each other", () => {
  using _ = openDatabase(path, birds(first));
  const fish = [{ version: 1, up: "CREATE TABLE fish (name TEXT) STRICT" }];
  using db = openDatabase(path, { component: "fish", migrations: fish });
  expect(db.prepare("SELECT component, version FROM schema_versions ORDER BY component").all()).toEqual([
    { component: "birds", version: 1 },
    { component: "fish", version: 1 },
  ]);
});

test("a store from the future is refused, naming both versions", () => {
  openDatabase(path, birds(first, second)).close();
  expect(() => openDatabase(path, birds(first))).toThrow(/birds .*version 2 .*only up to 1/);
  expect(() => openDatabase(path, { ...birds(first), readOnly: true })).toThrow(/version 2 .*only up to 1/);
});

test("a migration that fails leaves the store as it was", () => {
  openDatabase(path, birds(first)).close();
  const broken = { version: 2, up: "CREATE TABLE nests (a INTEGER); CREATE TABLE birds (again TEXT)" };
  expect(() => openDatabase(path, birds(first, broken))).toThrow(/already exists/);
  using db = openDatabase(path, birds(first));
  expect(db.prepare("SELECT name FROM sqlite_schema WHERE name = 'nests'").all()).toEqual([]);
});

test("migrations are numbered from 1 without a gap", () => {
  expect(() => openDatabase(path, birds(second))).toThrow("migration 1 of birds is numbered 2");
  expect(existsSync(path)).toBe(false);
});

test("a read-only connection reads and cannot write", () => {
  using _ = openDatabase(path, birds(first));
  using db = openDatabase(path, { ...birds(first), readOnly: true });
  expect(db.prepare("SELECT * FROM birds").all()).toEqual([]);
  expect(() => db.exec("INSERT INTO birds VALUES ('wren')")).toThrow(/readonly/);
});

test("a read-only connection creates no store and migrates none", () => {
  expect(() => openDatabase(path, { ...birds(first), readOnly: true })).toThrow();
  expect(existsSync(path)).toBe(false);
  openDatabase(path, birds(first)).close();
  expect(() => openDatabase(path, { ...birds(first, second), readOnly: true })).toThrow(
    /version 1 .*needs 2/,
  );
});

test("commits are synchronous and foreign keys are kept", () => {
  using db = openDatabase(path, birds(first));
  const pragma = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  expect(pragma("journal_mode")).toBe("wal");
  expect(pragma("synchronous")).toBe(2);
  expect(pragma("foreign_keys")).toBe(1);
  expect(pragma("busy_timeout")).toBeGreaterThan(0);
  using relaxed = openDatabase(path, { ...birds(first), synchronous: "NORMAL" });
  expect(relaxed.prepare("PRAGMA synchronous").get()).toEqual({ synchronous: 1 });
});

test("nobody but the owner may read the store, its log and its index", () => {
  using _ = openDatabase(path, birds(first));
  expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
});

test("the mode of an existing store is the operator's", () => {
  openDatabase(path, birds(first)).close();
  chmodSync(path, 0o640);
  openDatabase(path, birds(first)).close();
  expect(modeOf(path)).toBe(0o640);
});

test("a read-only connection refuses a file without the tables", () => {
  using other = new DatabaseSync(join(dir, "empty.db"));
  other.exec("CREATE TABLE x (y)");
  expect(() => openDatabase(join(dir, "empty.db"), { ...birds(first), readOnly: true })).toThrow(
    /version 0 .*needs 1/,
  );
});

test("a store in memory needs no file", () => {
  using db = openDatabase(":memory:", birds(first));
  expect(db.prepare("SELECT * FROM birds").all()).toEqual([]);
});
