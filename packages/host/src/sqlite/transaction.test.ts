import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { durably, immediately } from "./transaction.ts";

test("a transaction that finds no room is told so, and nothing of it is kept", () => {
  using db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE notes (text TEXT); PRAGMA max_page_count = 10");
  const insert = db.prepare("INSERT INTO notes VALUES (?)");
  const both = () => {
    insert.run("short");
    insert.run("x".repeat(100_000));
  };
  expect(() => immediately(db, both)).toThrow(expect.objectContaining({ code: "storage_full" }));
  expect(db.prepare("SELECT count(*) AS n FROM notes").get()).toEqual({ n: 0 });
  immediately(db, () => insert.run("short"));
});

test("any other error passes as it is", () => {
  using db = new DatabaseSync(":memory:");
  const error = new Error("mine");
  const work = () => {
    throw error;
  };
  expect(() => immediately(db, work)).toThrow(error);
  expect(db.isTransaction).toBe(false);
});

test("what must be on disk is written so, and the rest goes on as before", () => {
  using db = new DatabaseSync(":memory:");
  db.exec("CREATE TABLE notes (text TEXT); PRAGMA synchronous = NORMAL");
  const level = () => db.prepare("PRAGMA synchronous").get()?.synchronous;
  expect([level(), durably(db, level), level()]).toEqual([1, 2, 1]);
  const work = () => {
    throw new Error("mine");
  };
  expect(() => durably(db, work)).toThrow("mine");
  expect(level()).toBe(1);
});
