// Opens a SQLite store: safe settings, forward-only migrations, no stranger may read the file. Several components
// may share one store; each has its own row of versions.
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { immediately } from "./transaction.ts";

export interface Migration {
  /** 1, 2, 3 and so on: the version the store has after `up`. */
  version: number;
  /** SQL. Once released it never changes: a change is a new migration. */
  up: string;
}

export interface DatabaseOptions {
  /** The component that owns the tables. */
  component: string;
  migrations: readonly Migration[];
  /** FULL (the default) survives a power cut, NORMAL only a crash of the process. */
  synchronous?: "FULL" | "NORMAL";
  readOnly?: boolean;
}

const busyTimeoutMs = 5_000;

/** Opens a store and brings it up to date; throws a plain error where it comes from a later version. */
export function openDatabase(path: string, options: DatabaseOptions): DatabaseSync {
  checkOrder(options);
  const { readOnly = false, synchronous = "FULL" } = options;
  // SQLite would create it readable for others; -wal and -shm take over the mode of the file itself.
  if (!readOnly && path !== ":memory:") closeSync(openSync(path, "a", 0o600));
  const db = new DatabaseSync(path, {
    readOnly,
    timeout: busyTimeoutMs,
    enableForeignKeyConstraints: true,
    defensive: true,
  });
  try {
    db.exec(`PRAGMA trusted_schema = OFF; PRAGMA synchronous = ${synchronous}`);
    // On macOS a plain fsync leaves the data in the drive's own cache; elsewhere these two do nothing.
    db.exec("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON");
    if (!readOnly) {
      useWal(db, path);
      migrate(db, path, options);
    }
    checkVersion(db, path, options);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function checkOrder({ component, migrations }: DatabaseOptions): void {
  migrations.forEach(({ version }, index) => {
    if (version !== index + 1)
      throw new Error(`migration ${index + 1} of ${component} is numbered ${version}`);
  });
}

function useWal(db: DatabaseSync, path: string): void {
  const mode = db.prepare("PRAGMA journal_mode = WAL").get()?.journal_mode;
  if (mode !== "wal" && path !== ":memory:") {
    throw new Error(`${path}: this file system cannot hold a write-ahead log (journal mode is ${mode})`);
  }
}

function migrate(db: DatabaseSync, path: string, options: DatabaseOptions): void {
  const { component, migrations } = options;
  if (versionOf(db, component) === migrations.length) return;
  immediately(db, () => {
    db.exec(
      "CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT",
    );
    // Read again: another process may have migrated while this one waited for its turn.
    const version = versionOf(db, component);
    refuseFuture(path, version, options);
    for (const { up } of migrations.slice(version)) db.exec(up);
    db.prepare(
      `INSERT INTO schema_versions VALUES (?, ?)
       ON CONFLICT (component) DO UPDATE SET version = excluded.version`,
    ).run(component, migrations.length);
  });
}

function checkVersion(db: DatabaseSync, path: string, options: DatabaseOptions): void {
  const version = versionOf(db, options.component);
  refuseFuture(path, version, options);
  const known = options.migrations.length;
  if (version < known) {
    throw new Error(
      `${path}: the ${options.component} tables are at version ${version} and this program needs ${known}; ` +
        "open the store for writing once, so that it is brought up to date",
    );
  }
}

function refuseFuture(path: string, version: number, { component, migrations }: DatabaseOptions): void {
  if (version <= migrations.length) return;
  throw new Error(
    `${path}: the ${component} tables are at version ${version} and this program knows only up to ` +
      `${migrations.length}; use the newer program that wrote them, or a backup from before`,
  );
}

function versionOf(db: DatabaseSync, component: string): number {
  const table = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_versions'").get();
  if (table === undefined) return 0;
  return Number(
    db.prepare("SELECT version FROM schema_versions WHERE component = ?").get(component)?.version ?? 0,
  );
}
