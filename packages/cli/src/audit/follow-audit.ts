// New records of the audit as they come, for as long as it takes: a gateway that is away for a while loses nothing.
import { setTimeout as wait } from "node:timers/promises";
import type { ChainedRow } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import type { AuditSource } from "./source.ts";

export interface AuditWatcher {
  row(row: ChainedRow): void;
  /** The source cannot be asked at the moment. */
  lost(error: Failure): void;
  back(): void;
  /** Called when the chain ends earlier than before. */
  shortened(seq: number): void;
}

const lookMs = 500;
const lookMsLost = 2_000;
const pageMax = 1_000;

/** Everything after this number, until `signal` aborts. */
export async function followAudit(
  source: AuditSource,
  { after, signal }: { after: number; signal: AbortSignal },
  watcher: AuditWatcher,
): Promise<void> {
  let seen = after;
  let isLost = false;
  while (!signal.aborted) {
    const page = await source.page({ after: seen, limit: pageMax }).catch((error: unknown) => {
      if (!(error instanceof Failure && error.isTemporary)) throw error;
      if (!isLost) watcher.lost(error);
      isLost = true;
    });
    if (page === undefined) {
      await pause(lookMsLost, signal);
      continue;
    }
    if (isLost) watcher.back();
    isLost = false;
    for (const row of page.rows) watcher.row(row);
    if (page.head.seq < seen) watcher.shortened(page.head.seq);
    seen = page.rows.at(-1)?.seq ?? Math.min(seen, page.head.seq);
    if (page.rows.length < pageMax) await pause(lookMs, signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
}
