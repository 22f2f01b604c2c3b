// What happened to proposals in a file of its own beside the export of the audit chain: no hash of the chain covers it.
import { parse } from "node:path";
import { visibleJson } from "@mcpx/protocol";
import type { ProposalRecord } from "./proposal-record.ts";

const format = "mcpx-proposals";

/** `audit.jsonl` has its proposals in `audit.proposals.jsonl`. */
export function proposalsFileOf(file: string): string {
  const { ext } = parse(file);
  return `${file.slice(0, file.length - ext.length)}.proposals${ext}`;
}

/** A line that says what the file is, one for each record, and one that says how many they were. */
export async function* proposalLines(
  batches: AsyncIterable<readonly ProposalRecord[]>,
  now: () => number,
): AsyncGenerator<string, { records: number }> {
  yield JSON.stringify({ format, version: 1 });
  let count = 0;
  for await (const records of batches) {
    for (const record of records) yield visibleJson(JSON.stringify(record));
    count += records.length;
  }
  yield JSON.stringify({ end: { count, time: new Date(now()).toISOString() } });
  return { records: count };
}

export function isProposalsStart(line: string): boolean {
  return line.startsWith(`{"format":"${format}"`);
}
