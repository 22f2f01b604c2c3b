// Fills a room with lines that a page can show, in a process of its own.
import { randomUUID } from "node:crypto";
import { createSqliteTopicLog } from "@mcpx/gateway";
import { sized } from "../sizes.ts";

const [path = "", count = "0"] = process.argv.slice(2);
const topicLog = await createSqliteTopicLog({ path });
const batch = sized(10_000, 1_000);
for (let done = 0; done < Number(count); done += batch) {
  await Promise.all(Array.from({ length: batch }, (_, i) => topicLog.append(lineOf(done + i))));
}
await topicLog.close();

function lineOf(i: number): Parameters<typeof topicLog.append>[0] {
  const id = randomUUID();
  const at = Date.now();
  const envelope = {
    protocol: "mcpx/v0.1",
    id,
    ts: new Date(at).toISOString(),
    from: `earlier-${i % 20}`,
    kind: "chat",
    payload: { text: `line ${i} ${"and so on ".repeat(i % 20)}`, format: "plain" },
  };
  return {
    topic: "bench-0",
    id,
    from: envelope.from,
    at,
    digest: "d".repeat(43),
    text: JSON.stringify(envelope),
  };
}
