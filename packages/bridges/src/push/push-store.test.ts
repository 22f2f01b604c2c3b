import { DatabaseSync } from "node:sqlite";
import { describe } from "vitest";
import { bridgeMigrations } from "../store/store-sqlite.ts";
import { pushStoreCases } from "./push-store-cases.ts";
import { createSqlitePushStore } from "./push-store-sqlite.ts";

describe("devices in SQLite", () => {
  pushStoreCases(() => {
    const db = new DatabaseSync(":memory:");
    for (const { up } of bridgeMigrations) db.exec(up);
    return () => createSqlitePushStore(db);
  });
});
