// Audit records waiting for their batch: identical refusals are one, and there is an end to how many may wait.
import type { AuditRow } from "./audit-chain.ts";

const rowsMax = 4_096;

export interface AuditBuffer {
  /** `false` where there was no room: the record is lost, and counted. */
  add(row: AuditRow): boolean;
  readonly size: number;
  readonly lost: number;
  rows(): AuditRow[];
  clear(): void;
}

export function createAuditBuffer(): AuditBuffer {
  // Keyed by what makes two refusals identical; what was allowed gets a key of its own.
  const waiting = new Map<string, AuditRow>();
  let allowed = 0;
  let lost = 0;
  return {
    add(row) {
      const key = row.reason === null ? String(allowed++) : mergeKey(row);
      const same = waiting.get(key);
      if (same !== undefined) same.count += 1;
      else if (waiting.size < rowsMax) waiting.set(key, row);
      else {
        lost += 1;
        return false;
      }
      return true;
    },
    get size() {
      return waiting.size;
    },
    get lost() {
      return lost;
    },
    rows: () => [...waiting.values()],
    clear() {
      waiting.clear();
      lost = 0;
    },
  };
}

function mergeKey({ action, reason, actor, subject, topic }: AuditRow): string {
  return JSON.stringify([action, reason, actor, subject, topic]);
}
