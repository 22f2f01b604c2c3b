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
  let waiting: AuditRow[] = [];
  /** Those that others like them are counted with, by what makes two refusals identical. */
  let refusals = new Map<string, AuditRow>();
  let lost = 0;
  return {
    add(row) {
      const key = row.reason === null ? undefined : mergeKey(row);
      const same = key === undefined ? undefined : refusals.get(key);
      if (same !== undefined) {
        same.count += 1;
        return true;
      }
      if (waiting.length >= rowsMax) {
        lost += 1;
        return false;
      }
      waiting.push(row);
      if (key !== undefined) refusals.set(key, row);
      return true;
    },
    get size() {
      return waiting.length;
    },
    get lost() {
      return lost;
    },
    rows: () => [...waiting],
    clear() {
      waiting = [];
      refusals = new Map();
      lost = 0;
    },
  };
}

function mergeKey({ action, reason, actor, subject, topic }: AuditRow): string {
  return JSON.stringify([action, reason, actor, subject, topic]);
}
