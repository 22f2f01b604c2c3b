// Where a command has the audit from: the store of the data directory, also under a running gateway, or another gateway.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { openTopicLogReader } from "@mcpx/gateway";
import {
  type AuditOptions,
  type AuditPage,
  type AuditPageQuery,
  type AuditQuery,
  type ChainVerdict,
  createAudit,
  createLogger,
  createSqliteAuditStore,
  openState,
  systemClock,
} from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { accessGateway, callGateway, type GatewayAccess, hasGateway } from "../access/gateway-access.ts";
import { homeOf } from "../files/data-dir.ts";
import { openTopicLog, stateInPostgres } from "../files/local-state.ts";
import { localUser, noState } from "../files/local-store.ts";
import { type KnownStore, knownStore } from "../files/open-store.ts";
import { type Home, hasState } from "../files/state-place.ts";
import type { gatewayOptions, OptionValues, Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { isProposalRecord, type ProposalRecord } from "./proposals/proposal-record.ts";
import { scanProposals } from "./proposals/scan-proposals.ts";

export interface AuditSource {
  /** For people: `its data in DIR`, or an address. */
  readonly where: string;
  /** Newest first. */
  list(query: AuditQuery): Promise<JsonObject[]>;
  page(query: AuditPageQuery): Promise<AuditPage>;
  verify(): Promise<ChainVerdict>;
  /** What happened to the proposals of rooms: topic after topic, in each by time. */
  proposals(query: { since?: number | undefined }): AsyncIterable<ProposalRecord[]>;
  close(): Promise<void>;
}

type SourceContext = Pick<Surroundings, "env" | "cwd" | "output"> & {
  options: OptionValues<typeof gatewayOptions>;
};

/** What a running gateway has not written yet is asked for first. */
export async function openAuditSource(context: SourceContext): Promise<AuditSource> {
  const { options, output } = context;
  const access = () => accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  if (options.url !== undefined) return gatewaySource(access(), options.url);
  const source = await localSource(homeOf(context, options));
  if (!hasGateway(context)) return source;
  try {
    await callGateway(await access().enter(), "GET", "/admin/audit/chain?limit=1");
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    output.note(`what happened within the last second may be missing: ${error.message}`);
  }
  return source;
}

async function localSource(home: Home): Promise<AuditSource> {
  const { dataDir } = home;
  if (!hasState(dataDir)) throw noState(dataDir);
  const opened = new AsyncDisposableStack();
  try {
    const store = await knownStore(home);
    return store === undefined ? sourceInFiles(dataDir, opened) : await sourceInPostgres(store, opened);
  } catch (error) {
    await opened.disposeAsync();
    throw error;
  }
}

/** Looked at, and never made or brought up to date. */
function sourceInFiles(dataDir: string, opened: AsyncDisposableStack): AuditSource {
  const db = openState(join(dataDir, "state.db"), { readOnly: true });
  opened.defer(() => db.close());
  const where = `the data in ${dataDir}`;
  return storedSource({ where, store: createSqliteAuditStore(db) }, opened, (since) =>
    localProposals(join(dataDir, "topics.db"), since),
  );
}

async function sourceInPostgres(known: KnownStore, opened: AsyncDisposableStack): Promise<AuditSource> {
  const { where, audit } = stateInPostgres(known, opened);
  return storedSource({ where, store: await audit() }, opened, async function* (since) {
    yield* scanProposals(await openTopicLog(known, opened), { since, now: systemClock.now });
  });
}

function storedSource(
  { where, store }: { where: string; store: AuditOptions["store"] },
  opened: AsyncDisposableStack,
  proposalsSince: (since: number | undefined) => AsyncIterable<ProposalRecord[]>,
): AuditSource {
  const audit = createAudit({ store, clock: systemClock, log: createLogger({ level: "silent" }) });
  return {
    where,
    list: async (query) =>
      (await audit.list(query)).map((record) => ({ ...record, at: new Date(record.at).toISOString() })),
    page: (query) => audit.page(query),
    verify: () => audit.verify(),
    proposals: ({ since }) => proposalsSince(since),
    close: () => opened.disposeAsync(),
  };
}

async function* localProposals(path: string, since: number | undefined): AsyncGenerator<ProposalRecord[]> {
  if (!existsSync(path)) return;
  const log = openTopicLogReader(path);
  try {
    yield* scanProposals(log, { since, now: systemClock.now });
  } finally {
    log.close();
  }
}

function gatewaySource(access: GatewayAccess, where: string): AuditSource {
  const ask = async (path: string, query: object) => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const text = new URLSearchParams(given.map(([key, value]): [string, string] => [key, String(value)]));
    return callGateway(await access.enter(), "GET", `${path}?${text}`);
  };
  return {
    where,
    async list(query) {
      const { records } = await ask("/admin/audit", query);
      return Array.isArray(records) ? records.filter(isObject) : [];
    },
    async page(query) {
      const { records, head, pruned } = await ask("/admin/audit/chain", query);
      if (!Array.isArray(records) || !isObject(head)) throw odd(where);
      return { rows: records, head, ...(isObject(pruned) && { pruned }) } as unknown as AuditPage;
    },
    async verify() {
      const { chain } = await ask("/admin/audit", { limit: 1, verify: 1 });
      if (!isObject(chain)) throw odd(where);
      return chain as unknown as ChainVerdict;
    },
    async *proposals({ since }) {
      for (let query: object = { since }; ; ) {
        const { records, next } = await ask("/admin/proposals", query);
        if (!Array.isArray(records) || !records.every(isProposalRecord)) throw odd(where);
        yield records;
        if (typeof next !== "string") return;
        query = { next };
      }
    },
    close: async () => {},
  };
}

function odd(where: string): Failure {
  return new Failure(`${where} answered not as a gateway of this version does`, "use the same version");
}
