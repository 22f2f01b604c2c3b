import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { topicLogCases } from "./topic-log-cases.ts";
import { createSqliteTopicLog } from "./topic-log-sqlite.ts";

topicLogCases("the topic log on disk", async () => {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-topic-log-"));
  const path = join(dir, "topics.db");
  let log = await createSqliteTopicLog({ path });
  return {
    log,
    reopen: async () => {
      await log.close();
      log = await createSqliteTopicLog({ path });
      return log;
    },
  };
});
