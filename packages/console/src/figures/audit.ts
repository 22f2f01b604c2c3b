// The audit as a list that can be searched, followed and taken away. Pure, but for what it asks the gateway.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Api } from "../store/api.ts";

export interface AuditRow {
  seq: number;
  at: string;
  action: string;
  actor: string;
  subject: string;
  topic: string;
  reason: string;
  detail: unknown;
  count: number;
}

const pageSize = 200;

/** Newest first; `before` goes on where the last page ended. */
export async function readAudit(
  api: Api,
  { before, action, actor }: { before?: number; action?: string; actor?: string } = {},
): Promise<AuditRow[]> {
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (before !== undefined) query.set("before", String(before));
  if (action !== undefined && action !== "") query.set("action", action);
  if (actor !== undefined && actor !== "") query.set("actor", actor);
  const { records } = await api.call("GET", `/admin/audit?${query}`);
  return Array.isArray(records) ? records.filter(isObject).map(rowOf) : [];
}

/** Those that were not there yet, before the others. */
export function merge(known: readonly AuditRow[], fresh: readonly AuditRow[]): AuditRow[] {
  const newest = known[0]?.seq ?? 0;
  return [...fresh.filter(({ seq }) => seq > newest), ...known];
}

export function search(rows: readonly AuditRow[], words: string): AuditRow[] {
  const wanted = words
    .toLowerCase()
    .split(/\s/)
    .filter((word) => word !== "");
  if (wanted.length === 0) return [...rows];
  return rows.filter((row) => {
    const text = JSON.stringify(row).toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}

/** One record on each line. */
export function exportText(rows: readonly AuditRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join("");
}

function rowOf({ seq, at, action, actor, subject, topic, reason, detail, count }: JsonObject): AuditRow {
  const text = (value: unknown) => (value === undefined ? "" : String(value));
  return {
    seq: Number(seq),
    at: text(at),
    action: text(action),
    actor: text(actor),
    subject: text(subject),
    topic: text(topic),
    reason: text(reason),
    detail,
    count: Number(count),
  };
}
