// Four senders at once, each until one of its envelopes is not acknowledged.
import type { TopicLog } from "@mcpx/gateway";
import { newEntry } from "../../../packages/gateway/src/topic-log/cases.ts";

export interface Talk {
  readonly acknowledged: { id: string; seq: number }[];
  readonly ended: Promise<unknown>;
}

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
