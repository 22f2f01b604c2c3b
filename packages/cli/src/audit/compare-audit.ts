// Whether an export that holds by itself is part of the chain a gateway has: its last hash covers everything before it.
import { type ExportVerdict, readExportRow } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import type { AuditSource } from "./source.ts";

type Whole = Extract<ExportVerdict, { ok: true }>;

const pageMax = 1_000;

/** Throws a failure that names the first record that is not the same. */
export async function compareWithLive(
  source: AuditSource,
  { from, to, head }: Whole,
  lines: () => AsyncIterable<string>,
): Promise<{ records: number }> {
  const chain = await source.verify();
  if (!chain.ok) {
    const fix = "keep the export: it may have the original records";
    throw new Failure(`the chain of ${source.where} is itself broken at record ${chain.at}`, fix);
  }
  const { pruned } = chain;
  const last = chain.records + (pruned?.to ?? 0);
  if (last < to) {
    const fix = "it was cut, restored from a backup, or the export is another gateway's";
    throw new Failure(`${source.where} has ${last} records, and the export goes to ${to}`, fix);
  }
  if (pruned !== undefined && to < pruned.to) {
    const fix = "compare it with another export that begins before its end";
    throw new Failure(
      `${source.where} has pruned its records to ${pruned.to}, and the export ends with ${to}`,
      fix,
    );
  }
  if (pruned?.to === to && pruned.hash === head) return { records: chain.records };
  const { rows } = await source.page({ after: to - 1, limit: 1 });
  if (to === 0 || rows[0]?.hash === head) return { records: chain.records };
  const at = await firstOther(source, from, lines());
  const fix = "one of them was rewritten, or the export is another gateway's";
  throw new Failure(`record ${at} of the export is not the one of ${source.where}`, fix);
}

async function firstOther(source: AuditSource, from: number, lines: AsyncIterable<string>): Promise<number> {
  let page = new Map<number, string>();
  for await (const line of lines) {
    const row = readExportRow(line);
    if (row === undefined) continue;
    if (!page.has(row.seq)) {
      const { rows } = await source.page({ after: row.seq - 1, limit: pageMax });
      page = new Map(rows.map(({ seq, hash }) => [seq, hash]));
    }
    if (page.get(row.seq) !== row.hash) return row.seq;
  }
  return from;
}
