import { join } from "node:path";
import { describe } from "vitest";
import { openTreeState } from "../../testing/open-tree-state.ts";
import { scratch } from "../../testing/scratch.ts";
import { chainStoreCases } from "./chain-store-cases.ts";
import { createSqliteChainStore } from "./chain-store-sqlite.ts";

describe("the chain of approvers in SQLite", () => {
  chainStoreCases(() => {
    const path = join(scratch(), "state.db");
    return () => createSqliteChainStore(openTreeState(path));
  });
});
