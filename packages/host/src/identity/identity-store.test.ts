import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, onTestFinished } from "vitest";
import { openState } from "../sqlite/state.ts";
import { identityStoreCases } from "./identity-store-cases.ts";
import { createSqliteIdentityStore } from "./identity-store-sqlite.ts";

describe("identity in SQLite", () => {
  identityStoreCases(async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcpx-identity-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const open = async () => {
      const db = openState(join(folder, "state.db"));
      onTestFinished(() => db.close());
      return createSqliteIdentityStore(db);
    };
    return { store: await open(), open };
  });
});
