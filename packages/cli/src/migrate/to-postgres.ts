// All that the files of a data directory hold, copied to an empty store, and compared.
import { existsSync, renameSync } from "node:fs";
import { createPostgresTreeStores } from "@mcpx/aggregator";
import { byteaArray, createPostgresAuditStore, textArray } from "@mcpx/host";
import type { KnownStore } from "../files/open-store.ts";
import { type StoreWish, writeStatePlace } from "../files/state-place.ts";
import { Failure } from "../framework/failure.ts";
import { copyApprovers } from "./approvers.ts";
import { askStore } from "./ask-store.ts";
import { checkSame, endsIn, type Moved, type Told, verifyChains } from "./compare.ts";
import { batchesOf, countIn, namesIn, openStateFiles, type StateFiles } from "./state-files.ts";
import { countOf, openStateStore, type StateStore } from "./state-store.ts";
import { isBytesColumn, storeInsert, type TableCopy, toStore } from "./table-copy.ts";
import { tableCopies } from "./tables.ts";

export async function moveToPostgres(
  dataDir: string,
  { store, wish }: { store: KnownStore; wish: StoreWish },
  told: Told,
): Promise<Moved> {
  const names = namesIn(dataDir);
  const { moved, gatewayId } = await copyAll(dataDir, store, told);
  // From here on commands use the store; the files stay, under names that nobody opens.
  writeStatePlace(dataDir, { ...wish, gatewayId });
  const end = `.migrated-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  for (const path of Object.values(names)) if (existsSync(path)) renameSync(path, path + end);
  return moved;
}

async function copyAll(dataDir: string, store: KnownStore, told: Told) {
  await using opened = new AsyncDisposableStack();
  const files = await openStateFiles(namesIn(dataDir), opened);
  // Commands that would write to them are refused until we are done.
  files.state.exec("BEGIN IMMEDIATE");
  const into = await openStateStore(store, opened);
  const gatewayId = String(
    files.state.prepare("SELECT value FROM host_settings WHERE name = 'gateway_id'").get()?.value ?? "",
  );
  if (gatewayId === "")
    throw new Failure(`the files in ${dataDir} are of no gateway yet`, "run mcpx up there");
  await begin(files, into, { gatewayId, shown: store.shown });
  for (const copy of tableCopies) await copyTable(copy, files, into, told);
  for (const device of await files.push.list()) await into.push.add(device);
  for (const [key, credential] of await files.credentials.entries())
    await into.credentials.write(key, credential);
  const approvers = await copyApprovers(files.approvers, into.approvers);
  const moved = await compare(files, into, { approvers });
  await into.progress.note("finished", new Date().toISOString());
  return { moved, gatewayId };
}

/** The store is empty, or was being filled from these very files. */
async function begin(
  files: StateFiles,
  { progress, session }: StateStore,
  { gatewayId, shown }: { gatewayId: string; shown: string },
): Promise<void> {
  const head = files.state.prepare("SELECT seq, hash FROM audit_head").get();
  const counts = tableCopies.map((copy) => countIn(copy, files));
  const source = JSON.stringify({ gatewayId, head: head ?? null, counts });
  const known = await progress.find("source");
  if (known === source) return;
  const fix = "name another schema (?schema=NAME), or drop this one";
  if (known !== undefined)
    throw new Failure(`${shown} was being filled from other files, or from these before they changed`, fix);
  const owned = await askStore(session, {
    name: "migrate-owned",
    text: "SELECT 1 FROM host_settings WHERE name IN ('secret', 'gateway_id')",
  });
  if (owned.length > 0) throw new Failure(`${shown} has the state of a gateway already`, fix);
  await progress.note("source", source);
}

async function copyTable(
  copy: TableCopy,
  files: StateFiles,
  { session, seal, progress, checkOurs }: StateStore,
  told: Told,
): Promise<void> {
  const note = `table ${copy.name}`;
  const all = countIn(copy, files);
  let done = Number((await progress.find(note)) ?? 0);
  const put = { name: `migrate-put-${copy.name}`, text: storeInsert(copy) };
  for (const rows of batchesOf(copy, files, done)) {
    checkOurs();
    told.now(copy.name, done, all);
    done += rows.length;
    const arrays = toStore(copy, rows, seal).map((cells, i) =>
      isBytesColumn(copy.columns[i] ?? { kind: "text" })
        ? byteaArray(cells as (Buffer | null)[])
        : textArray(cells as (string | null)[]),
    );
    await askStore(session, put, [note, String(done), ...arrays]);
  }
  for (const [i, text] of (copy.after ?? []).entries())
    await askStore(session, { name: `migrate-after-${copy.name}-${i}`, text });
}

async function compare(files: StateFiles, { session }: StateStore, copied: Moved["tables"]): Promise<Moved> {
  const tables = { ...copied };
  for (const copy of tableCopies) {
    const [wanted, found] = [countIn(copy, files), await countOf({ name: copy.name }, session)];
    tables[copy.name] = found;
    const isWhole = copy.conflict === undefined ? found === wanted : found >= wanted;
    if (!isWhole)
      throw new Failure(`${copy.name} has ${found} rows in PostgreSQL, and ${wanted} in the files`);
  }
  const ends = await askStore<[name: string, last: number]>(session, topicEnds);
  const chains = await verifyChains({
    audit: createPostgresAuditStore(session),
    tree: createPostgresTreeStores(session),
  });
  checkSame({ ends, head: chains.audit.head }, endsIn(files));
  return { tables, ...chains };
}

const topicEnds = { name: "migrate-ends", text: 'SELECT name, last FROM topics ORDER BY name COLLATE "C"' };
