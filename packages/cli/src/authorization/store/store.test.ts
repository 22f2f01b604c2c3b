import { DatabaseSync } from "node:sqlite";
import { describe } from "vitest";
import { authorizationStoreCases, caseBounds } from "./store-cases.ts";
import { authorizationMigrations, createSqliteAuthorizationStore } from "./store-sqlite.ts";

describe("in SQLite", () =>
  authorizationStoreCases(() => {
    const db = new DatabaseSync(":memory:");
    for (const { up } of authorizationMigrations) db.exec(up);
    return createSqliteAuthorizationStore(db, caseBounds);
  }));
