// The newest records of proposals that a filter wants, in the form in which the audit tells its own.
import type { AuditQuery } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { isWanted } from "../filter.ts";
import type { ProposalRecord } from "./proposal-record.ts";

/** Newest first; never more in memory than `limit` and one batch. */
export async function newestProposals(
  batches: AsyncIterable<readonly ProposalRecord[]>,
  query: AuditQuery,
): Promise<JsonObject[]> {
  let newest: ProposalRecord[] = [];
  for await (const batch of batches) {
    const wanted = batch.filter((record) => isWanted(record, query));
    // Of records with the same time the later one comes first.
    if (wanted.length > 0) {
      newest = [...wanted.reverse(), ...newest].sort((a, b) => b.at - a.at).slice(0, query.limit);
    }
  }
  return newest.map((record) => ({ ...record, at: new Date(record.at).toISOString() }));
}
