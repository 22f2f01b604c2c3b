// Trims a topic's log while the gateway runs, as its own retention does.
import { join } from "node:path";
import { createSqliteTopicLog } from "@mcpx/gateway";
import type { TestServer } from "./test-server.ts";

export async function trimLog(server: TestServer, topic: string, count: number): Promise<void> {
  const log = await createSqliteTopicLog({ path: join(server.dataDir, "topics.db") });
  await log.trim(topic, { count }, Date.now());
  await log.close();
}
