import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { immediately } from "./transaction.ts";

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
