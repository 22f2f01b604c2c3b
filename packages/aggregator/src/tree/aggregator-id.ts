// Who this aggregator is, as long as its database lives. [AX-5.3-3]
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { immediately } from "@mcpx/host";

/** Made at the first request, exactly once also where two processes ask at the same time. */
export function aggregatorId(db: DatabaseSync): string {
  const find = db.prepare("SELECT value FROM tree_facts WHERE name = 'aggregator_id'");
  return immediately(db, () => {
    const found = find.get()?.value;
    if (found !== undefined) return String(found);
    const id = randomUUID();
    db.prepare("INSERT INTO tree_facts VALUES ('aggregator_id', ?)").run(id);
    return id;
  });
}
