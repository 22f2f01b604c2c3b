// Fills a log with random ids, in a process of its own: appends of ten thousand at once would teach the server's
// engine that what belongs to an append lives long.
import { randomUUID } from "node:crypto";
import { createSqliteTopicLog } from "@mcpx/gateway";
import { sized } from "../sizes.ts";

const [path = "", count = "0"] = process.argv.slice(2);
const topicLog = await createSqliteTopicLog({ path });
const text = JSON.stringify({ protocol: "mcpx/v0.1", kind: "chat", payload: { text: "x".repeat(180) } });
const batchCount = sized(10_000, 1_000);
for (let done = 0; done < Number(count); done += batchCount) {
  const batch = Array.from({ length: batchCount }, () =>
    topicLog.append({
      topic: "bench-0",
      id: randomUUID(),
      from: "earlier",
      at: Date.now(),
      digest: "d".repeat(43),
      text,
    }),
  );
  await Promise.all(batch);
}
await topicLog.close();
