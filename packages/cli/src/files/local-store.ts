// The state of a data directory, opened by a command beside the gateway or without one: in its files, or on the engine
// that the gateway uses.
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import type { Audit, Identity } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import { makeDataDir } from "./data-dir.ts";
import { type LocalState, stateInFiles, stateInPostgres } from "./local-state.ts";
import { knownStore } from "./open-store.ts";
import { readWhole } from "./replace-file.ts";
import { type Home, hasState } from "./state-place.ts";

export interface LocalStore extends Omit<LocalState, "audit" | "identity" | "where"> {
  identity: Identity;
  audit: Audit;
  /** Whether it was made just now. */
  isNew: boolean;
}

/** Opens the store for one piece of work. Unless it may be made, a missing one is a fault. */
export async function withStore<T>(
  home: Home,
  { mayCreate = false }: { mayCreate?: boolean },
  work: (store: LocalStore) => T | Promise<T>,
): Promise<T> {
  const { dataDir } = home;
  const isNew = !hasState(dataDir);
  if (isNew && !mayCreate) throw noState(dataDir);
  if (isNew) await checkFilesMean(home);
  makeDataDir(dataDir);
  await using opened = new AsyncDisposableStack();
  const { where: _, ...state } = await openLocalState(home, opened);
  // Only now: a command that is given a token needs no store.
  const { createAudit, createIdentity, createLogger, systemClock } = await import("@mcpx/host");
  const log = createLogger({ level: "silent" });
  // Issuers are left out: those who only mint have not read the configuration.
  const identity = await createIdentity({ store: await state.identity(), clock: systemClock, log });
  opened.defer(() => identity.close());
  const audit = createAudit({ store: await state.audit(), clock: systemClock, log });
  opened.defer(() => audit.close());
  return await work({ ...state, identity, audit, isNew });
}

/** All that a command opens of a gateway's state; what is opened is closed by `opened`. */
export async function openLocalState(home: Home, opened: AsyncDisposableStack): Promise<LocalState> {
  const store = await knownStore(home);
  return store === undefined ? stateInFiles(home.dataDir, opened) : stateInPostgres(store, opened);
}

export function noState(dataDir: string): Failure {
  return new Failure(`there is no data of a gateway in ${dataDir}`, "run mcpx up first, or give --data DIR");
}

/** Files that a gateway would not use are not made: what they say would be another gateway's word. */
async function checkFilesMean({ dataDir, cwd = dataDir, configFile }: Home): Promise<void> {
  const usual = [cwd, dataDir].map((dir) => join(dir, "mcpx.json"));
  for (const path of configFile === undefined ? usual : [resolve(cwd, configFile)]) {
    const file = readWhole(path);
    if (file === undefined) continue;
    const { parse } = await import("jsonc-parser");
    const config: unknown = parse(file.text);
    if (typeof config !== "object" || config === null || !("store" in config)) continue;
    throw new Failure(
      `${path} names a store, and no gateway has been started on it yet`,
      "run mcpx up first",
    );
  }
}

/** The user of this machine, as the audit and default ids name them. */
export function localUser(): string {
  try {
    return userInfo().username.replace(/[^A-Za-z0-9._-]/g, "") || "user";
  } catch {
    // A user id without a name, as containers have them.
    return "user";
  }
}
