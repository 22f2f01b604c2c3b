// What is on disk and on chat platforms, for `/metrics`, looked at when somebody asks.
import { statSync } from "node:fs";
import { join } from "node:path";
import type { Metrics } from "@mcpx/host";
import type { OpenBridges } from "../bridges/open-bridges.ts";

const stores = { topics: "topics.db", state: "state.db" };

/** With what SQLite has not moved into them yet. A store that is elsewhere has no size here. */
export function showStores(dataDir: string, metrics: Metrics): void {
  const bytes = metrics.gauge("store_bytes", "Size of the gateway's files on disk", ["store"]);
  metrics.onScrape(() => {
    for (const [store, file] of Object.entries(stores)) {
      const sizes = ["", "-wal"].map((end) => sizeOf(join(dataDir, `${file}${end}`)));
      bytes.set(
        { store },
        sizes.reduce((sum, size) => sum + size, 0),
      );
    }
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

export function showBridges(bridges: Pick<OpenBridges, "facts">, metrics: Metrics): void {
  const gauge = metrics.gauge("bridges", "Bridges to chat platforms, by state", ["platform", "state"]);
  metrics.onScrape(async () => {
    const facts = await bridges.facts();
    gauge.reset();
    for (const { platform, state } of facts) gauge.inc({ platform, state });
  });
}
