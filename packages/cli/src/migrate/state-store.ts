// A store on PostgreSQL as a migration reads or fills it: with all tables of this version, and no gateway beside it.
import {
  type ApproverStore,
  type CredentialStore,
  createPostgresApproverStore,
  createPostgresCredentialStore,
  treeOnPostgres,
} from "@mcpx/aggregator";
import { bridgesOnPostgres, createPostgresPushStore, type PushStore } from "@mcpx/bridges";
import { postgresTopicLogStore, roomsOnPostgres } from "@mcpx/gateway";
import {
  askPostgres,
  clusterOnPostgres,
  createLogger,
  createPostgresClusterStore,
  createSeal,
  hostOnPostgres,
  migratePostgres,
  openPostgresSession,
  type PostgresSession,
  readPostgresAddress,
  type Seal,
} from "@mcpx/host";
import { authorizationOnPostgres } from "../authorization/store/store-postgres.ts";
import type { KnownStore } from "../files/open-store.ts";
import { Failure } from "../framework/failure.ts";
import { holdStore } from "../stores/hold-store.ts";
import { askStore } from "./ask-store.ts";
import { migrationOnPostgres, type Progress, progressIn } from "./progress.ts";
import { type StoreCell, storeSelect, type TableCopy } from "./table-copy.ts";

export interface StateStore {
  session: PostgresSession;
  seal: Seal;
  progress: Progress;
  push: PushStore;
  credentials: CredentialStore;
  approvers: ApproverStore;
  /** Throws where another gateway may have taken the store meanwhile. */
  checkOurs(): void;
}

/** Rejects where a gateway runs on it. What is opened is closed by `opened`. */
export async function openStateStore(
  { url, key }: Pick<KnownStore, "url" | "key">,
  opened: AsyncDisposableStack,
): Promise<StateStore> {
  const address = readPostgresAddress(url);
  const rooms = [roomsOnPostgres, postgresTopicLogStore];
  const tree = [treeOnPostgres, bridgesOnPostgres, authorizationOnPostgres];
  await migratePostgres(address, clusterOnPostgres, hostOnPostgres, ...rooms, ...tree, migrationOnPostgres);
  const session = await openPostgresSession(address);
  opened.defer(() => session.close());
  let lost: Error | undefined;
  const onLost = (error: Error) => {
    lost = error;
  };
  opened.use(
    await holdStore({
      store: createPostgresClusterStore(session),
      log: createLogger({ level: "silent" }),
      ...{ onLost, onFailure: onLost, onBack: () => {} },
      leaseMs: leaseMs,
    }),
  );
  const seal = createSeal(key);
  return {
    session,
    seal,
    progress: progressIn(session),
    push: createPostgresPushStore((statement, values = []) => askPostgres(session, statement, values), seal),
    credentials: createPostgresCredentialStore({ session, seal }),
    approvers: createPostgresApproverStore(session),
    checkOurs() {
      if (lost === undefined) return;
      throw new Failure(
        `another gateway may use the store by now: ${lost.message}`,
        "type the same again: it goes on",
      );
    },
  };
}

/** A batch is one statement on the connection that renews the lease. */
const leaseMs = 60_000;
const pageRows = 1_000;

export async function countOf(
  { fromStore, name }: Pick<TableCopy, "fromStore" | "name">,
  session: PostgresSession,
): Promise<number> {
  const from = fromStore === undefined ? name : `(${fromStore}) AS rows`;
  const statement = { name: `migrate-count-${name}`, text: `SELECT count(*) FROM ${from}` };
  return (await askStore<[number]>(session, statement))[0]?.[0] ?? 0;
}

/** Rows as the store has them, page by page; without the first `done`. */
export async function* pagesOf(
  copy: TableCopy,
  { session }: Pick<StateStore, "session">,
  done: number,
): AsyncGenerator<StoreCell[][]> {
  const { text, isKeyed } = storeSelect(copy);
  const statement = { name: `migrate-read-${copy.name}`, text };
  const places = copy.order.map((one) => copy.columns.findIndex(({ store }) => store === one));
  let last: number[] = copy.order.map(() => Number.MIN_SAFE_INTEGER);
  for (let read = 0; ; ) {
    const values = isKeyed ? [pageRows, ...last] : [pageRows, Math.max(read, done)];
    const rows = await askStore<StoreCell[]>(session, statement, values);
    if (!isKeyed) read = Math.max(read, done);
    const fresh = isKeyed ? rows.slice(Math.max(0, done - read)) : rows;
    read += rows.length;
    if (fresh.length > 0) yield fresh;
    if (rows.length < pageRows) return;
    last = places.map((place) => Number(rows.at(-1)?.[place]));
  }
}
