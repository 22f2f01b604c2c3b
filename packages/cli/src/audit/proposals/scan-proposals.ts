// Reads what happened to proposals from the topic log, page by page: the log is their only store.
import type { Entry, ReadOptions } from "@mcpx/gateway";
import { followTopic } from "./follow-topic.ts";
import type { ProposalRecord } from "./proposal-record.ts";

/** Of a running gateway, or of its file. */
export interface ProposalLog {
  topics(): readonly { name: string; seq: number }[] | Promise<readonly { name: string; seq: number }[]>;
  read(topic: string, options: ReadOptions): Entry[] | Promise<Entry[]>;
}

export interface ScanOptions {
  topic?: string | undefined;
  /** Only records from then on, ms since 1970. */
  since?: number | undefined;
  now: () => number;
}

/** Of the largest envelopes these are 32 MiB. */
const pageEntries = 64;

/** One batch, perhaps empty, for each page of the log: topic after topic, in each by time. */
export async function* scanProposals(
  log: ProposalLog,
  { topic, since = 0, now }: ScanOptions,
): AsyncGenerator<ProposalRecord[]> {
  for (const { name, seq: last } of await log.topics()) {
    if (topic !== undefined && name !== topic) continue;
    // From the beginning whatever `since` is: a proposal may be older than its outcome.
    const follower = followTopic(name);
    const isWanted = ({ at }: ProposalRecord) => at >= since;
    for (let after = 0; after < last; ) {
      // Not beyond where the topic ended at the beginning: a busy room would never be read to its end.
      const options = { after, before: last + 1, limit: pageEntries, order: "oldest_first" } as const;
      const entries = await log.read(name, options);
      yield entries.flatMap((entry) => follower.take(entry)).filter(isWanted);
      after = entries.at(-1)?.seq ?? last;
    }
    yield follower.end(now()).filter(isWanted);
  }
}
