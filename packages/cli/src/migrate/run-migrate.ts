// What `mcpx migrate` does: no gateway runs, the state is moved, and what was left of the old place is named.
import type { MigrateContext } from "../commands/gateway/migrate.ts";
import { loadConfig } from "../config/config.ts";
import { homeOf } from "../files/data-dir.ts";
import { takeLock } from "../files/data-lock.ts";
import { noState } from "../files/local-store.ts";
import { type KnownStore, knownStore, readStoreAddress, showStore } from "../files/open-store.ts";
import { type Home, hasState, isInFiles, readStatePlace, type StoreWish } from "../files/state-place.ts";
import { makeStoreKey, readStoreKey } from "../files/store-key.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { storeWish } from "../settings/store-settings.ts";
import type { Moved, Told } from "./compare.ts";
import { moveToFiles } from "./to-files.ts";
import { moveToPostgres } from "./to-postgres.ts";

export async function runMigrate(context: MigrateContext): Promise<number> {
  const { options, output } = context;
  const { from, to } = options;
  const home = homeOf(context, options);
  const isThere = from === "sqlite" && to !== undefined && /^postgres/.test(to);
  if (!isThere && !(from === "postgres" && to === "sqlite"))
    throw misuse(
      "--from and --to are sqlite and postgres",
      "write --from sqlite --to postgres, or the other way",
    );
  if (!hasState(home.dataDir)) throw noState(home.dataDir);
  const lock = takeLock(home.dataDir);
  if (lock === undefined)
    throw new Failure(`a gateway runs on ${home.dataDir}`, "stop it first: nothing may change meanwhile");
  try {
    const told = progressOf(context);
    const { moved, where, next } = isThere
      ? await leaveFiles(context, home, to, told)
      : await leaveStore(home, told);
    const { tables, audit, chain } = moved;
    if (options.json) output.json({ to: where, tables, audit, chain });
    else {
      const rows = Object.values(tables).reduce((sum, count) => sum + count, 0);
      output.line(`moved to ${where}: ${rows} rows in ${Object.keys(tables).length} tables, counted in both`);
      output.line(`audit chain whole: ${audit.records} records, head ${audit.head}`);
      output.line(`chain of approvers whole: ${chain.entries} entries`);
      output.note(context.hint(next));
    }
    return 0;
  } finally {
    lock.release();
  }
}

interface Done {
  moved: Moved;
  where: string;
  /** What is to be done now. */
  next: string;
}

async function leaveFiles(context: MigrateContext, home: Home, to: string, told: Told): Promise<Done> {
  const { cwd, options } = context;
  const { dataDir } = home;
  if (!isInFiles(dataDir))
    throw new Failure(`the state of ${dataDir} is not in its files`, "see mcpx doctor");
  const configured = storeWish(loadConfig({ given: options.config, cwd, dataDir }));
  const wish: StoreWish | undefined =
    to === "postgres" ? configured : { ...configured, address: to, dir: cwd };
  if (wish === undefined)
    throw new Failure(
      "the configuration names no store",
      "write it into mcpx.json, or give --to postgres://…",
    );
  const { url, parts } = await readStoreAddress(home, wish);
  const key = readStoreKey(home, wish) ?? makeStoreKey(home, wish);
  const store: KnownStore = { url, key, shown: await showStore(parts) };
  const moved = await moveToPostgres(dataDir, { store, wish }, told);
  const next =
    configured === undefined
      ? `write "store" into mcpx.json, then mcpx up; the files are there still, as ${dataDir}/*.migrated-TIME`
      : `now mcpx up; the files are there still, as ${dataDir}/*.migrated-TIME`;
  return { moved, where: store.shown, next };
}

async function leaveStore(home: Home, told: Told): Promise<Done> {
  const { dataDir } = home;
  if (readStatePlace(dataDir) === undefined)
    throw new Failure(`the state of ${dataDir} is not in PostgreSQL`, "see mcpx doctor");
  const store = (await knownStore(home)) as KnownStore;
  const moved = await moveToFiles(dataDir, store, told);
  const next = `take "store" out of mcpx.json, then mcpx up; ${store.shown} is as it was`;
  return { moved, where: `the files of ${dataDir}`, next };
}

/** One line, written over. */
function progressOf({ output, options }: MigrateContext): Told {
  return {
    now(table, done, of) {
      if (!options.json && output.isErrorTerminal) output.progress(`${table}: ${done} of ${of}`);
    },
  };
}
