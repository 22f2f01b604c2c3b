// All that a store holds, copied to the files of a data directory, and compared. They have other names until they are
// whole.
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createSqliteTopicLog } from "@mcpx/gateway";
import { createSqliteAuditStore } from "@mcpx/host";
import type { KnownStore } from "../files/open-store.ts";
import { Failure } from "../framework/failure.ts";
import { copyApprovers } from "./approvers.ts";
import { askStore } from "./ask-store.ts";
import { checkSame, endsIn, type Moved, type Told, verifyChains } from "./compare.ts";
import { countIn, databaseOf, namesIn, openStateFiles, type StateFiles } from "./state-files.ts";
import { countOf, openStateStore, pagesOf, type StateStore } from "./state-store.ts";
import { fileInsert, type TableCopy, toFile } from "./table-copy.ts";
import { byteMarks, tableCopies } from "./tables.ts";

const partEnd = ".part";

export async function moveToFiles(dataDir: string, store: KnownStore, told: Told): Promise<Moved> {
  const moved = await copyAll(dataDir, store, told);
  const [parts, names] = [namesIn(dataDir, partEnd), namesIn(dataDir)];
  // The log first: without `state.db` nothing counts.
  for (const name of ["credentials", "approvers"] as const)
    rmSync(names[name], { recursive: true, force: true });
  if (existsSync(parts.approvers)) renameSync(parts.approvers, names.approvers);
  for (const name of ["credentials", "topics", "state"] as const) renameSync(parts[name], names[name]);
  renameSync(join(dataDir, "store.json"), join(dataDir, "store.json.migrated"));
  return moved;
}

async function copyAll(dataDir: string, store: KnownStore, told: Told): Promise<Moved> {
  const parts = namesIn(dataDir, partEnd);
  await using opened = new AsyncDisposableStack();
  const from = await openStateStore(store, opened);
  const files = await openStateFiles(parts, opened);
  for (const db of [files.state, files.topics]) db.exec(progressTable);
  for (const copy of tableCopies) await copyTable(copy, from, files, told);
  await copyMarks(from, files);
  for (const device of await from.push.list()) await files.push.add(device);
  for (const [key, credential] of await from.credentials.entries())
    await files.credentials.write(key, credential);
  const approvers = await copyApprovers(from.approvers, files.approvers);
  const moved = await compare(from, files, { approvers });
  for (const db of [files.state, files.topics]) {
    db.exec("DROP TABLE migration_progress");
    db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  await opened.disposeAsync();
  // What is made of the envelopes is made now, not at the next start.
  await (await createSqliteTopicLog({ path: parts.topics })).close();
  return moved;
}

const progressTable =
  "CREATE TABLE IF NOT EXISTS migration_progress (name TEXT PRIMARY KEY, done INTEGER NOT NULL) STRICT";

async function copyTable(copy: TableCopy, from: StateStore, files: StateFiles, told: Told): Promise<void> {
  const sql = fileInsert(copy);
  if (sql === undefined) return;
  const db = databaseOf(copy, files);
  const insert = db.prepare(sql);
  const note = db.prepare("INSERT OR REPLACE INTO migration_progress VALUES (?, ?)");
  let done = Number(
    db.prepare("SELECT done FROM migration_progress WHERE name = ?").get(copy.name)?.done ?? 0,
  );
  const all = await countOf(copy, from.session);
  for await (const page of pagesOf(copy, from, done)) {
    from.checkOurs();
    told.now(copy.name, done, all);
    done += page.length;
    db.exec("BEGIN IMMEDIATE");
    for (const cells of page) {
      const row = toFile(copy, cells, from.seal);
      insert.run(...copy.columns.map(({ file }) => row[file] ?? null));
    }
    note.run(copy.name, done);
    db.exec("COMMIT");
  }
}

async function copyMarks({ session }: StateStore, { topics }: StateFiles): Promise<void> {
  type Mark = [topic: number, bytes: number, seq: number];
  const marks = await askStore<Mark>(session, { name: "migrate-marks", text: byteMarks });
  const insert = topics.prepare("INSERT OR REPLACE INTO byte_marks (topic, bytes, seq) VALUES (?, ?, ?)");
  for (const mark of marks) insert.run(...mark);
}

async function compare({ session }: StateStore, files: StateFiles, copied: Moved["tables"]): Promise<Moved> {
  const tables = { ...copied };
  for (const copy of tableCopies) {
    if (fileInsert(copy) === undefined) continue;
    // Some rows of one are others in the other; those are few, and have no count of their own.
    if (copy.fromStore !== undefined) continue;
    const [wanted, found] = [await countOf(copy, session), countIn(copy, files)];
    tables[copy.name] = found;
    if (found !== wanted)
      throw new Failure(`${copy.name} has ${found} rows in the files, and ${wanted} in PostgreSQL`);
  }
  const ends = await askStore<[name: string, last: number]>(session, {
    name: "migrate-ends",
    text: 'SELECT name, last FROM topics ORDER BY name COLLATE "C"',
  });
  const [head] = await askStore<[string]>(session, {
    name: "migrate-head",
    text: "SELECT hash FROM audit_head",
  });
  checkSame(endsIn(files), { ends, head: head?.[0] ?? "" });
  return {
    tables,
    ...(await verifyChains({ audit: createSqliteAuditStore(files.state), tree: files.tree })),
  };
}
