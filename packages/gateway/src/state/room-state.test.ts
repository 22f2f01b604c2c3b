import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "@mcpx/host";
import { describe, onTestFinished } from "vitest";
import { roomStateCases } from "./room-state-cases.ts";
import { createSqliteRoomState } from "./room-state-sqlite.ts";
import { gatewayMigrations } from "./state-schema.ts";

describe("the rooms' state in SQLite", () => {
  roomStateCases(async () => {
    const folder = mkdtempSync(join(tmpdir(), "mcpx-rooms-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const open = async () => {
      const path = join(folder, "state.db");
      const db = openDatabase(path, { component: "gateway", migrations: gatewayMigrations });
      onTestFinished(() => db.close());
      return createSqliteRoomState(db);
    };
    return { state: await open(), open };
  });
});
