// The state of a data directory, opened by a command beside the gateway or without one.
import { existsSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Audit, Identity } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import { makeDataDir } from "./data-dir.ts";

export interface LocalStore {
  identity: Identity;
  audit: Audit;
  /** Whether it was made just now. */
  isNew: boolean;
}

/** Opens the store for one piece of work. Unless it may be made, a missing one is a fault. */
export async function withStore<T>(
  dataDir: string,
  { mayCreate = false }: { mayCreate?: boolean },
  work: (store: LocalStore) => T | Promise<T>,
): Promise<T> {
  const path = join(dataDir, "state.db");
  const isNew = !existsSync(path);
  if (isNew && !mayCreate) {
    throw new Failure(`there is no data of a gateway in ${dataDir}`, "run mcpx up first, or give --data DIR");
  }
  makeDataDir(dataDir);
  // Only now: a command that is given a token needs no store.
  const {
    createAudit,
    createIdentity,
    createSqliteIdentityStore,
    createSqliteAuditStore,
    createLogger,
    openState,
    systemClock,
  } = await import("@mcpx/host");
  const log = createLogger({ level: "silent" });
  const db = openState(path);
  // Issuers are left out: those who only mint have not read the configuration.
  const identity = await createIdentity({ store: createSqliteIdentityStore(db), clock: systemClock, log });
  const audit = createAudit({ store: createSqliteAuditStore(db), clock: systemClock, log });
  try {
    return await work({ identity, audit, isNew });
  } finally {
    await audit.close();
    identity.close();
    db.close();
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
