import { join } from "node:path";
import { describe } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { scratch } from "../testing/scratch.ts";
import { treeFactsCases } from "./facts-cases.ts";
import { createSqliteTreeFacts } from "./facts-sqlite.ts";

describe("facts of a tree in SQLite", () => {
  treeFactsCases(() => {
    const path = join(scratch(), "state.db");
    return () => createSqliteTreeFacts(openTreeState(path));
  });
});
