// The audit chain on its way to a place elsewhere: in order, at least once, and on from where it stopped. What cannot
// be delivered is tried until it is; nothing is left out for it.
import { setTimeout as pause } from "node:timers/promises";
import { backoffMs } from "@mcpx/protocol";
import type { Logger } from "../../logging/log.ts";
import type { Metrics } from "../../logging/metrics.ts";
import type { Audit } from "../audit.ts";
import { type ChainedRow, noHash } from "../chain.ts";
import type { AuditPosition, AuditPositions } from "./positions.ts";

/** Where records go. */
export interface AuditPlace {
  /** Resolves once all of them have arrived; else rejects, and the same are sent again. */
  send(rows: readonly ChainedRow[], signal: AbortSignal): Promise<void>;
}

export interface NamedPlace {
  name: string;
  place: AuditPlace;
}

interface Ground {
  audit: Pick<Audit, "page">;
  positions: AuditPositions;
  log: Logger;
  metrics: Metrics;
}

/** One request has no more than about 300 kB. */
const batchMax = 100;
const lookMs = 1_000;
const retry = { minMs: 1_000, maxMs: 60_000 };
const start: AuditPosition = { seq: 0, hash: noHash };

/** Until it is ended. What is under way then is given up, and sent again after the next start. */
export function pushAudit(places: readonly NamedPlace[], ground: Ground): { close(): Promise<void> } {
  const closing = new AbortController();
  const counts = countsIn(ground.metrics);
  const ended = places.map((one) => pushTo({ ...one, ...ground }, counts, closing.signal));
  return {
    async close() {
      closing.abort();
      await Promise.all(ended);
    },
  };
}

type Counts = ReturnType<typeof countsIn>;

function countsIn(metrics: Metrics) {
  const place = ["place"] as const;
  return {
    waiting: metrics.gauge("audit_push_waiting", "Audit records that a place does not have yet", place),
    failures: metrics.counter("audit_push_failures_total", "Deliveries of audit records that failed", place),
  };
}

async function pushTo(
  options: NamedPlace & Ground,
  { waiting, failures }: Counts,
  signal: AbortSignal,
): Promise<void> {
  const { name, place, audit, positions, log } = options;
  failures.inc({ place: name }, 0);
  let position: AuditPosition | undefined;

  /** Whether there may be more. */
  async function sendNext(): Promise<boolean> {
    position ??= await positionNow(options);
    const { rows, head } = await audit.page({ after: position.seq, limit: batchMax });
    waiting.set({ place: name }, head.seq - position.seq);
    const [first, last] = [rows[0], rows.at(-1)];
    if (first === undefined || last === undefined) return false;
    const missing = first.seq - position.seq - 1;
    if (missing > 0) log.warn({ place: name, missing }, "audit records were pruned before they were sent");
    await place.send(rows, signal);
    await positions.write(name, { seq: last.seq, hash: last.hash });
    position = { seq: last.seq, hash: last.hash };
    waiting.set({ place: name }, head.seq - position.seq);
    return rows.length === batchMax;
  }

  const waitFor = (ms: number) => pause(ms, undefined, { ref: false, signal }).catch(() => {});
  let failed = 0;
  while (!signal.aborted) {
    try {
      const isMore = await sendNext();
      if (failed > 0) log.info({ place: name }, "audit records are sent again");
      failed = 0;
      if (!isMore) await waitFor(lookMs);
    } catch (error) {
      if (signal.aborted) return;
      failures.inc({ place: name });
      if (failed === 0) log.warn({ place: name, err: error }, "audit records cannot be sent; they wait");
      await waitFor(backoffMs(failed, retry, Math.random()));
      failed += 1;
    }
  }
}

/** From the beginning where the chain is not the one of which records were sent: an older copy was put back. */
async function positionNow({ name, audit, positions, log }: NamedPlace & Ground): Promise<AuditPosition> {
  const kept = await positions.read(name);
  if (kept === undefined) return start;
  const { rows, pruned } = await audit.page({ after: kept.seq - 1, limit: 1 });
  const isPruned = pruned !== undefined && pruned.to >= kept.seq;
  if (isPruned || (rows[0]?.seq === kept.seq && rows[0].hash === kept.hash)) return kept;
  log.warn({ place: name, seq: kept.seq }, "the audit chain is another than was sent; all of it is sent");
  return start;
}
