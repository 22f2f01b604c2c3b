// The facts of a tree in `state.db`.
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";
import { type KeptFacts, wholeSecond } from "./facts.ts";

/** The database has the tables of `aggregatorMigrations`, and is closed by the code that opened it. */
export function createSqliteTreeFacts(db: DatabaseSync): KeptFacts {
  const value = db.prepare("SELECT value FROM tree_facts WHERE name = ?");
  const put = db.prepare("INSERT OR REPLACE INTO tree_facts VALUES (?, ?)");
  const find = (name: string) => value.get(name)?.value;
  return {
    aggregatorId: async () =>
      immediately(db, () => {
        const found = find("aggregator_id");
        if (found !== undefined) return String(found);
        const id = randomUUID();
        put.run("aggregator_id", id);
        return id;
      }),
    rootSince: async (segment = "", now) =>
      immediately(db, () => {
        if (find("root_segment") === segment) return Number(find("root_since"));
        const isNew = find("aggregator_id") === undefined && find("root_segment") === undefined;
        const since = isNew ? 0 : wholeSecond(now);
        put.run("root_segment", segment);
        put.run("root_since", since);
        return since;
      }),
    async storedRoot() {
      const segment = find("root_segment");
      return typeof segment === "string" && segment !== "" ? segment : undefined;
    },
    isPanic: async () => find("panic") === 1,
    keepPanic: async (isPanic) => void put.run("panic", isPanic ? 1 : 0),
  };
}
