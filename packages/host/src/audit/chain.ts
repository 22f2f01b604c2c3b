// The audit chain: each record's hash covers the hash before it, and the head is kept apart. It shows tampering by
// an intruder who did not rewrite everything after it; keeping `head` elsewhere shows that too. Pure.
import { hash as digest } from "node:crypto";

/** A record as it is stored; `detail` is JSON text. */
export interface AuditRow {
  at: number;
  action: string;
  reason: string | null;
  actor: string | null;
  subject: string | null;
  topic: string | null;
  detail: string | null;
  count: number;
}

export interface ChainedRow extends AuditRow {
  seq: number;
  hash: string;
}

export type ChainVerdict =
  | { ok: true; records: number; head: string; pruned?: Pruned }
  /** `at`: the first number in the chain that is wrong or missing. */
  | { ok: false; at: number };

/** The end of what was taken out at the beginning of the chain. */
export interface Pruned {
  /** The last number. */
  to: number;
  /** Its hash: the next record's covers it. */
  hash: string;
  /** Ms since 1970. */
  at: number;
}

/** What the chain says of its own pruning. */
const prunedAction = "audit.prune";

function prunedDetail({ to, hash }: Pick<Pruned, "to" | "hash">): string {
  return JSON.stringify({ to, hash });
}

export interface ChainHead {
  seq: number;
  hash: string;
}

/** What stands before the first record. */
export const noHash = "0".repeat(64);

/** Rows as they go on from the head. */
export function chainRows({ seq, hash }: ChainHead, rows: readonly AuditRow[]): ChainedRow[] {
  let previous = hash;
  return rows.map((row, index) => {
    const number = seq + 1 + index;
    previous = rowHash(previous, number, row);
    return { ...row, seq: number, hash: previous };
  });
}

/** The record of a pruning: a checkpoint that no record speaks of is none. */
export function prunedRecord(pruned: Pruned): AuditRow {
  const none = { reason: null, actor: null, subject: null, topic: null };
  return { at: pruned.at, action: prunedAction, ...none, detail: prunedDetail(pruned), count: 1 };
}

export function isRecordOf({ action, detail }: AuditRow, pruned: Pruned): boolean {
  return action === prunedAction && detail === prunedDetail(pruned);
}

/** An array in fixed order is canonical by itself: nothing to sort, no key to forget. */
export function rowHash(previous: string, seq: number, row: AuditRow): string {
  const { at, action, reason, actor, subject, topic, detail, count } = row;
  const text = JSON.stringify([seq, at, action, reason, actor, subject, topic, detail, count]);
  return digest("sha256", `${previous}\n${text}`);
}
