// Audit records waiting for their batch: identical refusals are one, so are those of one who asks for ever new
// names, so are calls of one who makes very many, and there is an end to how many may wait.
import type { AuditRow } from "./chain.ts";

const rowsMax = 4_096;
/** So many different topics and subjects of one actor's refusals have records of their own; the rest share one. */
const namedMax = 4;
/**
 * Refusals of one batch that have records of their own, in all: a caller that has many addresses, or names of its own
 * choice, crowds out no other record, and fills no batch before its second is over. The rest share records without
 * actors.
 */
const refusalsMax = 128;
/**
 * So many permissions of one actor have records of their own in each batch, which is a second's; of the rest, those of
 * one thing share one, and there are as many of those.
 */
const allowedMax = 32;

export interface AuditBuffer {
  /** `false` where there was no room: the record is lost, and counted. */
  add(row: AuditRow, isGrave: boolean): boolean;
  readonly size: number;
  /** All that wait, and how many were lost: those that come from now on are not counted with them. */
  take(): { rows: AuditRow[]; lost: number };
  /** What was taken is written. */
  drop(): void;
  /** It is not: all wait on. */
  putBack(): void;
}

export function createAuditBuffer(): AuditBuffer {
  let waiting: AuditRow[] = [];
  /** Those that others like them are counted with, by what makes two identical. */
  let refusals = new Map<string, AuditRow>();
  /** How many of them differ in topic or subject only. */
  let named = new Map<string, number>();
  /** Permissions so far, by actor. */
  let allowed = new Map<string, number>();
  /** Records of refusals so far. */
  let refused = 0;
  let lost = 0;
  /** Taken, and not yet written or put back. */
  let taken = { rows: 0, lost: 0, refused, refusals, named, allowed };

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
    if (refusals.has(mergeKey(row))) return pushOrCount(row);
    if (refused >= refusalsMax) return pushOrCount({ ...common, actor: null });
    refused += 1;
    named.set(group, count + 1);
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
    take() {
      taken = { rows: waiting.length, lost, refused, refusals, named, allowed };
      refusals = new Map();
      named = new Map();
      allowed = new Map();
      refused = 0;
      return { rows: [...waiting], lost };
    },
    drop() {
      waiting = waiting.slice(taken.rows);
      lost -= taken.lost;
    },
    putBack() {
      refusals = new Map([...taken.refusals, ...refusals]);
      named = addUp(taken.named, named);
      allowed = addUp(taken.allowed, allowed);
      refused += taken.refused;
    },
  };
}

function addUp(...counts: ReadonlyMap<string, number>[]): Map<string, number> {
  const sum = new Map<string, number>();
  for (const [key, count] of counts.flatMap((one) => [...one])) sum.set(key, (sum.get(key) ?? 0) + count);
  return sum;
}

/** What those have in common that are too many to name. */
function withoutNames(row: AuditRow): AuditRow {
  return { ...row, subject: null, topic: null, detail: null };
}

function mergeKey({ action, reason, actor, subject, topic }: AuditRow): string {
  return JSON.stringify([action, reason, actor, subject, topic]);
}
