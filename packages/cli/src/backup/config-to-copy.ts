// Which configuration belongs into a backup.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { runningPlace } from "../access/running-gateway.ts";
import { findConfig } from "../config/find-config.ts";
import { notAccepted } from "../config/trust-words.ts";
import type { CopiedConfig } from "./copy.ts";

interface Place {
  cwd: string;
  dataDir: string;
  /** The file that somebody has named. */
  given?: string | undefined;
}

/** That of the gateway that runs there, whatever lies where we are; what is in force of it. */
export function configToCopy({ cwd, dataDir, given: named }: Place): CopiedConfig | undefined {
  const running = named === undefined ? runningPlace(dataDir) : undefined;
  const { isAccepted } = running ?? {};
  const config = running?.config !== undefined && existsSync(running.config) ? running.config : undefined;
  const given = isAccepted ? undefined : (named ?? config);
  if (given !== undefined) return { path: resolve(cwd, given) };
  const found = findConfig({ given, cwd, dataDir, trusted: config });
  if (found === undefined || found.kind === "ours") return found && { path: found.path };
  const { path, text, accepted } = found;
  if (accepted === undefined) throw notAccepted(path, dataDir);
  // Restored, it is named with --config, and then counts as it is.
  return { path, ...(accepted.text !== text && { text: accepted.text }) };
}
