// What the tree of a data directory keeps, for a command or a gateway that has it to itself.
import { join } from "node:path";
import { openSqliteTreeStores, type TreeStores } from "@mcpx/aggregator";

export function openTreeStores(
  dataDir: string,
  options: Parameters<typeof openSqliteTreeStores>[1] = {},
): TreeStores & Disposable {
  return openSqliteTreeStores(join(dataDir, "state.db"), options);
}
