// Audit records waiting for their batch: identical refusals are one, so are those of one who asks for ever new
// names, so are calls of one who makes very many, and there is an end to how many may wait.
import type { AuditRow } from "./chain.ts";

const rowsMax = 4_096;
/** So many different topics and subjects of one actor's refusals have records of their own; the rest share one. */
const namedMax = 4;
/** So many permissions of one actor have records of their own in each batch, which is a second's; of the rest, those of one thing share one, and there are as many of those. */
const allowedMax = 32;

export interface AuditBuffer {
  /** `false` where there was no room: the record is lost, and counted. */
  add(row: AuditRow, isGrave: boolean): boolean;
  readonly size: number;
  readonly lost: number;
  rows(): AuditRow[];
  clear(): void;
}

export function createAuditBuffer(): AuditBuffer {
  let waiting: AuditRow[] = [];
  /** Those that others like them are counted with, by what makes two identical. */
  let refusals = new Map<string, AuditRow>();
  /** How many of them differ in topic or subject only. */
  let named = new Map<string, number>();
  /** Permissions so far, by actor. */
  let allowed = new Map<string, number>();
  let lost = 0;

  function push(row: AuditRow): boolean {
    if (waiting.length < rowsMax) return waiting.push(row) > 0;
    lost += 1;
    return false;
  }

  function addAllowed(row: AuditRow): boolean {
    const actor = `permitted ${row.actor ?? ""}`;
    const count = (allowed.get(actor) ?? 0) + 1;
    allowed.set(actor, count);
    if (count <= allowedMax) return push(row);
    const bare = { ...row, detail: null };
    const things = named.get(actor) ?? 0;
    const isKnown = refusals.has(mergeKey(bare));
    if (!isKnown && things >= allowedMax) return pushOrCount(withoutNames(row));
    if (!isKnown) named.set(actor, things + 1);
    return pushOrCount(bare);
  }

  /** With others of the same kind, if there is one. */
  function pushOrCount(row: AuditRow): boolean {
    const key = mergeKey(row);
    const same = refusals.get(key);
    if (same !== undefined) {
      same.count += 1;
      return true;
    }
    if (!push(row)) return false;
    refusals.set(key, row);
    return true;
  }

  function addRefusal(asked: AuditRow): boolean {
    const common = withoutNames(asked);
    const group = mergeKey(common);
    const count = named.get(group) ?? 0;
    const row = count < namedMax || refusals.has(mergeKey(asked)) ? asked : common;
    if (!refusals.has(mergeKey(row))) named.set(group, count + 1);
    return pushOrCount(row);
  }

  return {
    add(row, isGrave) {
      if (row.reason !== null) return addRefusal(row);
      return isGrave ? push(row) : addAllowed(row);
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
      named = new Map();
      allowed = new Map();
      lost = 0;
    },
  };
}

/** What those have in common that are too many to name. */
function withoutNames(row: AuditRow): AuditRow {
  return { ...row, subject: null, topic: null, detail: null };
}

function mergeKey({ action, reason, actor, subject, topic }: AuditRow): string {
  return JSON.stringify([action, reason, actor, subject, topic]);
}
