// Where nothing was configured, a demo is shown: the first file that is written ends it.

import { runningPlace } from "../access/running-gateway.ts";
import type { ConfigFile } from "./edit-config.ts";

/** What happens to the demo, where the running gateway shows one. `file` is as it was before. */
export function demoNotes({ before, dataDir }: Pick<ConfigFile, "before" | "dataDir">): string[] {
  if (before !== undefined || runningPlace(dataDir)?.isDemo !== true) return [];
  return [
    "the demo ends: its workshop leaves the tree now, its room and its board after a restart of the gateway",
  ];
}
