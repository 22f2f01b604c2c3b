// The audit: who was allowed or refused what. Ordinary records are written in batches, grave ones at once.
import type { JsonObject } from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import { cutSecrets } from "../logging/cut-secrets.ts";
import type { Logger } from "../logging/log.ts";
import type { Metrics } from "../logging/metrics.ts";
import { createAuditBuffer } from "./buffer.ts";
import type { AuditRow, ChainedRow, ChainVerdict } from "./chain.ts";
import { type AuditRetention, pruneAudit } from "./prune.ts";
import type { AuditPage, AuditPageQuery, AuditStore } from "./store.ts";
import { type AuditQuery, firstSince, listRows, verifyChain } from "./walk-chain.ts";

export interface AuditEvent {
  /** What was tried, as a dotted word: `room.join`, `participant.promote`. */
  action: string;
  /** Why it was refused; without one it was allowed. */
  reason?: string | undefined;
  actor?: string | undefined;
  subject?: string | undefined;
  topic?: string | undefined;
  detail?: JsonObject | string | undefined;
}

export interface AuditRecord extends AuditEvent {
  seq: number;
  /** Ms since 1970. */
  at: number;
  /** How many identical refusals this record stands for. */
  count: number;
  hash: string;
}

export interface Audit {
  /** Durable within a second. Never throws. */
  record(event: AuditEvent): void;
  /** Durable once it resolves with `true`; `false` where the store failed, which is logged. Never rejects. */
  recordNow(event: AuditEvent): Promise<boolean>;
  /** What was recorded until now; the same answers. */
  flush(): Promise<boolean>;
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditRecord[]>;
  /** Of the chain as it is stored, for those who check it elsewhere. */
  page(query: AuditPageQuery): Promise<AuditPage>;
  verify(): Promise<ChainVerdict>;
  /** Writes what is waiting and stops. The store stays open. */
  close(): Promise<void>;
}

export interface AuditOptions {
  store: AuditStore;
  clock: Clock;
  log: Logger;
  metrics?: Metrics;
  /** Without it nothing is ever pruned. */
  retention?: AuditRetention;
}

const batchMs = 1_000;
const batchMax = 256;
const pruneMs = 10_000;
const charsMax = 256;
const detailCharsMax = 2_048;

export function createAudit({ store, clock, log, metrics, retention }: AuditOptions): Audit {
  const waiting = createAuditBuffer();
  let isFailing = false;
  let timer: NodeJS.Timeout | undefined;
  let prunedAt = Number.NEGATIVE_INFINITY;
  /** Under way, and the one after it: what comes meanwhile shares that. */
  let writing: Promise<boolean> | undefined;
  let next: Promise<boolean> | undefined;
  const failures = metrics?.counter("audit_write_failures_total", "Audit batches that could not be written");
  const losses = metrics?.counter("audit_lost_total", "Audit records given up because the store failed");

  function add(event: AuditEvent, isGrave: boolean): void {
    if (!waiting.add(toRow(event, clock.now()), isGrave)) losses?.inc();
  }

  /** After what was written: a chain grows only by that. */
  async function prune(): Promise<void> {
    const now = clock.monotonic();
    if (retention === undefined || now - prunedAt < pruneMs) return;
    prunedAt = now;
    try {
      const pruned = await pruneAudit(store, retention, clock.now());
      if (pruned !== undefined) log.info({ to: pruned.to }, "pruned old audit records");
    } catch (error) {
      log.error({ err: error }, "could not prune old audit records");
    }
  }

  async function write(): Promise<boolean> {
    clearTimeout(timer);
    timer = undefined;
    if (waiting.size === 0) return true;
    const { rows, lost } = waiting.take();
    const lossNote = lost === 0 ? [] : [{ ...toRow({ action: "audit.lost" }, clock.now()), count: lost }];
    try {
      await store.append([...rows, ...lossNote]);
    } catch (error) {
      waiting.putBack();
      isFailing = true;
      failures?.inc();
      log.error({ err: error, waiting: waiting.size, lost }, "could not write audit records");
      return false;
    }
    waiting.drop();
    isFailing = false;
    // What has come meanwhile may be a batch already.
    if (waiting.size >= batchMax) void flush();
    await prune();
    return true;
  }

  function flush(): Promise<boolean> {
    if (writing === undefined) {
      writing = write().finally(() => {
        writing = undefined;
      });
      return writing;
    }
    next ??= writing.then(() => {
      next = undefined;
      return flush();
    });
    return next;
  }

  function wake(): void {
    timer ??= setTimeout(async () => {
      if (!(await flush())) wake();
    }, batchMs).unref();
  }

  return {
    record(event) {
      add(event, false);
      // While the store fails the timer alone tries again: not every record of a flood.
      if (waiting.size >= batchMax && !isFailing && writing === undefined) void flush();
      if (waiting.size > 0) wake();
    },
    async recordNow(event) {
      add(event, true);
      if (await flush()) return true;
      wake();
      return false;
    },
    flush,
    async list(query) {
      await flush();
      return (await listRows(store, query)).map(toRecord);
    },
    async page(query) {
      await flush();
      if (query.since === undefined) return store.page(query);
      const first = await firstSince(store, query.after, query.since);
      return store.page({ ...query, after: first - 1 });
    },
    async verify() {
      await flush();
      return verifyChain(store);
    },
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}

function toRow(event: AuditEvent, at: number): AuditRow {
  return {
    at,
    action: bounded(event.action, charsMax) ?? "",
    reason: bounded(event.reason, charsMax),
    actor: bounded(event.actor, charsMax),
    subject: bounded(event.subject, charsMax),
    topic: bounded(event.topic, charsMax),
    detail: event.detail === undefined ? null : detailText(event.detail),
    count: 1,
  };
}

function detailText(detail: JsonObject | string): string {
  const text = cutSecrets(JSON.stringify(detail));
  return text.length <= detailCharsMax ? text : JSON.stringify(`${text.slice(0, detailCharsMax)}…`);
}

function bounded(text: string | undefined, max: number): string | null {
  if (text === undefined) return null;
  // Stores keep UTF-8: half a surrogate pair would come back as another character and break the hash.
  return cutSecrets(text.length <= max ? text : `${text.slice(0, max)}…`).toWellFormed();
}

function toRecord(row: ChainedRow): AuditRecord {
  const record: AuditRecord = {
    seq: row.seq,
    at: row.at,
    action: row.action,
    count: row.count,
    hash: row.hash,
  };
  for (const name of ["reason", "actor", "subject", "topic"] as const) {
    const value = row[name];
    if (value !== null) record[name] = value;
  }
  if (row.detail !== null) record.detail = JSON.parse(row.detail) as JsonObject | string;
  return record;
}
