// What the tools of a server were, forgotten because somebody took the server out.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { withStore } from "../files/local-store.ts";
import { openTreeStores } from "../files/tree-stores.ts";

/** Of a data directory that no gateway has used yet, nothing. Says how many tools it were. */
export async function forgetPins(dataDir: string, server: string, actor: string): Promise<number> {
  if (!existsSync(join(dataDir, "state.db"))) return 0;
  return withStore(dataDir, {}, async ({ audit }) => {
    using tree = openTreeStores(dataDir);
    const tools = await tree.pins.forget(server);
    if (tools > 0)
      await audit.recordNow({ action: "tool.forget", actor, subject: server, detail: { tools } });
    return tools;
  });
}
