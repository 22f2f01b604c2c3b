// A topic log on PostgreSQL that notes what becomes of it, and senders that talk to it.
import { createPostgresTopicLog, type TopicLog } from "@mcpx/gateway";
import { onTestFinished } from "vitest";
import { newEntry } from "../../../packages/gateway/src/topic-log/cases.ts";

/** Of a log that is watched. */
export type Options = Parameters<typeof createPostgresTopicLog>[0];

export interface Watched {
  log: TopicLog;
  /** Whether it is there, as it tells; and why it was not. */
  told: string[];
  failures: Error[];
}

/** Closed when the test is over. */
export async function open(options: Omit<Options, "onLost" | "onBack" | "onFailure">): Promise<Watched> {
  const told: string[] = [];
  const failures: Error[] = [];
  const log = await createPostgresTopicLog({
    ...options,
    onLost: (error) => told.push(`lost: ${error.message}`),
    onBack: () => told.push("back"),
    onFailure: (error) => failures.push(error),
    tuning: { retryMinMs: 10, retryMaxMs: 50, ...options.tuning },
  });
  onTestFinished(() => log.close());
  return { log, told, failures };
}

export const isBack = (told: string[]): boolean => told.at(-1) === "back";

export interface Talk {
  readonly acknowledged: { id: string; seq: number }[];
  readonly ended: Promise<unknown>;
}

/** Four at once, each until one of its envelopes is not acknowledged. */
export function talk(log: TopicLog, round = 0): Talk {
  const acknowledged: Talk["acknowledged"] = [];
  const talks = ["a", "b", "c", "d"].map(async (sender) => {
    for (let n = 1; ; n += 1) {
      const id = `${sender}${round}.${n}`;
      const appended = await log.append(newEntry({ id })).catch(() => undefined);
      if (appended === undefined) return;
      if (appended.outcome === "appended") acknowledged.push({ id, seq: appended.seq });
    }
  });
  return { acknowledged, ended: Promise.all(talks) };
}
