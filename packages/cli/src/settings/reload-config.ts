// The configuration, read again while the gateway runs: taken over where it is good, refused as a whole where it is not.
import { readFileSync } from "node:fs";
import type { RunningTree } from "@mcpx/aggregator";
import type { Logger } from "@mcpx/host";
import { parse } from "jsonc-parser";
import type { LoadedConfig } from "../config/config.ts";
import { type ConfigDiff, diffConfig, diffLines, takenOver } from "../config/config-diff.ts";
import { Failure } from "../framework/failure.ts";
import { hideSecrets, secretsIn } from "../framework/secrets.ts";
import type { GateSettings } from "./gate-settings.ts";
import type { ServerSettings } from "./server-settings.ts";
import type { TreeSettings } from "./tree-settings.ts";

/** A configuration, and the settings made of it. */
export interface Reading {
  loaded: LoadedConfig;
  settings: ServerSettings;
}

export interface ReloadOptions {
  /** Reads and checks as at the start; `last` is what was read before. */
  read(last: LoadedConfig): Promise<Reading>;
  /** What to say of a file that has changed since it was accepted. */
  waiting(path: string): string;
  change: RunningTree["change"];
  /** Replaces the rules by which calls wait. */
  judgeBy(gates: Pick<GateSettings, "rules" | "unannotated" | "quorum">): void;
  log: Logger;
}

/** Gives back what to do when the file may be another. */
export function createReload(
  first: Reading,
  { read, waiting, change, judgeBy, log }: ReloadOptions,
): () => Promise<void> {
  let { loaded, settings } = first;
  const reload = async () => {
    try {
      const next = await read(loaded);
      const diff = diffConfig(loaded.config, next.loaded.config);
      const tree = keepUnchanged(settings.tree, next.settings.tree, diff);
      if (tree !== undefined) change(tree);
      if (tree !== undefined && diff.gates.length > 0) judgeBy(tree.gates);
      const { path } = next.loaded;
      if (path !== undefined && next.loaded.accepted === "waiting") log.warn({ config: path }, waiting(path));
      else tell(log, path, diff);
      // Everything else is still as it was at the start, and is compared with that.
      loaded = { ...next.loaded, config: takenOver(loaded.config, next.loaded.config) };
      settings = { ...settings, ...(tree && { tree }) };
    } catch (error) {
      refuse(log, loaded.path, error);
    }
  };
  // One after the other: each is compared with what the one before has taken over.
  let reloads: Promise<void> = Promise.resolve();
  return () => {
    reloads = reloads.then(reload);
    return reloads;
  };
}

/** What is the same is the very same, so that its conversations go on. */
function keepUnchanged(
  before: TreeSettings | undefined,
  after: TreeSettings | undefined,
  { servers }: ConfigDiff,
): TreeSettings | undefined {
  if (before === undefined || after === undefined) return after;
  const kept = new Map(before.servers.map((server) => [server.name, server]));
  return {
    ...after,
    servers: after.servers.map((server) =>
      servers.changed.has(server.name) ? server : (kept.get(server.name) ?? server),
    ),
  };
}

function tell(log: Logger, config: string | undefined, diff: ConfigDiff): void {
  const lines = diffLines(diff);
  for (const line of lines) log.info({ config, change: line }, "configuration changed");
  for (const key of diff.restart)
    log.warn({ config, key }, "configuration change takes effect after a restart");
  if (lines.length + diff.restart.length === 0) log.info({ config }, "configuration unchanged");
}

function refuse(log: Logger, config: string | undefined, error: unknown): void {
  if (!(error instanceof Failure)) {
    log.error({ config, err: error }, "could not apply the configuration; keeping the old one");
    return;
  }
  const secrets = secretsOfFile(config);
  for (const line of [error.message, ...error.details])
    log.error({ config, fault: hideSecrets(line, secrets) }, "fault in configuration");
  log.error({ config }, "invalid configuration; keeping the old one");
}

/** Faults are told with what was found instead. */
export function secretsOfFile(path: string | undefined): string[] {
  try {
    return path === undefined ? [] : secretsIn(parse(readFileSync(path, "utf8")));
  } catch {
    return [];
  }
}
