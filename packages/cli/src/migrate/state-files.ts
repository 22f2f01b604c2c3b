// The files of a data directory as a migration reads or makes them.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  type ApproverStore,
  type CredentialStore,
  createFileApproverStore,
  createFileCredentialStore,
  openSqliteTreeStores,
  type TreeStores,
} from "@mcpx/aggregator";
import { bridgeMigrations, createSqlitePushStore, type PushStore } from "@mcpx/bridges";
import { createSqliteTopicLog, gatewayMigrations, topicLogStore } from "@mcpx/gateway";
import { type Migration, openDatabase, openState } from "@mcpx/host";
import { authorizationMigrations } from "../authorization/store/store-sqlite.ts";
import { approversDir } from "../files/data-dir.ts";
import { fileSelect, type PlainRow, type TableCopy } from "./table-copy.ts";

export interface StateFiles {
  state: DatabaseSync;
  topics: DatabaseSync;
  push: PushStore;
  credentials: CredentialStore;
  approvers: ApproverStore;
  tree: TreeStores;
}

export interface FileNames {
  state: string;
  topics: string;
  credentials: string;
  approvers: string;
}

export function namesIn(dataDir: string, end = ""): FileNames {
  return {
    state: join(dataDir, `state.db${end}`),
    topics: join(dataDir, `topics.db${end}`),
    credentials: join(dataDir, `credentials${end}`),
    approvers: `${approversDir(dataDir)}${end}`,
  };
}

/** Opens them with all tables as this version has them; what is opened is closed by `opened`. */
export async function openStateFiles(names: FileNames, opened: AsyncDisposableStack): Promise<StateFiles> {
  const state = openState(names.state);
  opened.defer(() => state.close());
  const bring = (component: string, migrations: readonly Migration[]) =>
    openDatabase(names.state, { component, migrations }).close();
  bring("gateway", gatewayMigrations);
  bring("bridges", bridgeMigrations);
  bring("authorization", authorizationMigrations);
  const tree = opened.use(openSqliteTreeStores(names.state));
  await (await createSqliteTopicLog({ path: names.topics })).close();
  const topics = openDatabase(names.topics, topicLogStore);
  opened.defer(() => topics.close());
  return {
    state,
    topics,
    push: createSqlitePushStore(state),
    credentials: await createFileCredentialStore(names.credentials),
    approvers: createFileApproverStore(names.approvers),
    tree,
  };
}

export function databaseOf({ component }: TableCopy, { state, topics }: StateFiles): DatabaseSync {
  return component === "topics" ? topics : state;
}

export function countIn(copy: TableCopy, files: StateFiles): number {
  const sql = `SELECT count(*) AS rows FROM (${fileSelect(copy)})`;
  return Number(databaseOf(copy, files).prepare(sql).get()?.rows ?? 0);
}

/** In batches of so many rows or bytes, without the first `done` rows. */
export function* batchesOf(copy: TableCopy, files: StateFiles, done: number): Generator<PlainRow[]> {
  let batch: PlainRow[] = [];
  let bytes = 0;
  let skipped = 0;
  for (const row of databaseOf(copy, files).prepare(fileSelect(copy)).iterate()) {
    if (skipped++ < done) continue;
    batch.push(row as PlainRow);
    for (const value of Object.values(row)) bytes += typeof value === "string" ? value.length : 8;
    if (batch.length < rowsMax && bytes < bytesMax) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

const rowsMax = 2_000;
const bytesMax = 4_194_304;
