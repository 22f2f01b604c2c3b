// Since when the names of this tree begin with its root segment. A token from before was written without knowing that:
// the same glob must not open more than it did. [AX-3.1-1]
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";

/**
 * Wall clock ms, whole seconds as tokens have them; 0 where this database has never served a tree without that root
 * segment. To be asked before anything else is written for the tree: a database with an aggregator id is not new.
 */
export function rootSince(db: DatabaseSync, segment: string | undefined, now: number): number {
  const find = db.prepare("SELECT value FROM tree_facts WHERE name = ?");
  const keep = db.prepare("INSERT OR REPLACE INTO tree_facts VALUES (?, ?)");
  return immediately(db, () => {
    if (find.get("root_segment")?.value === (segment ?? "")) return Number(find.get("root_since")?.value);
    const isNew = find.get("aggregator_id") === undefined && find.get("root_segment") === undefined;
    const since = isNew ? 0 : Math.floor(now / 1_000) * 1_000;
    keep.run("root_segment", segment ?? "");
    keep.run("root_since", since);
    return since;
  });
}

/** The root segment this database has served last, for whoever looks at it while no tree runs. */
export function storedRoot(db: DatabaseSync): string | undefined {
  const value = db.prepare("SELECT value FROM tree_facts WHERE name = 'root_segment'").get()?.value;
  return typeof value === "string" && value !== "" ? value : undefined;
}
