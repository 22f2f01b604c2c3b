import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { scratch } from "../testing/scratch.ts";
import { news, pinStoreCases, seen } from "./pin-store-cases.ts";
import { createSqlitePinStore } from "./pin-store-sqlite.ts";

const openAt = (path?: string) => createSqlitePinStore(openTreeState(path));

describe("pins in SQLite", () => {
  pinStoreCases(() => openAt());

  test("outlive the store", async () => {
    const path = join(scratch(), "state.db");
    await openAt(path).write("s", news({ first: [seen("a", "1")] }), 10);
    expect((await openAt(path).pinsOf("s")).get("a")?.hash).toBe("hash of 1");
  });
});
