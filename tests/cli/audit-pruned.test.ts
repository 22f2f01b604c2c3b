// The audit after pruning, with the commands people use: the chain holds and says what was pruned, exports begin where
// it begins, and an export from before can be compared while they overlap.
import { join } from "node:path";
import { createAudit, createLogger, createManualClock, createSqliteAuditStore, openState } from "@mcpx/host";
import { expect, test } from "vitest";
import { mcpx, scratch } from "./support/mcpx-process.ts";

async function write(dir: string, count: number, recordsMax: number): Promise<void> {
  const db = openState(join(dir, "state.db"));
  const clock = createManualClock();
  const retention = { recordsMax, keepMs: 1e15 };
  const audit = createAudit({
    store: createSqliteAuditStore(db),
    clock,
    log: createLogger({ level: "silent" }),
    retention,
  });
  for (let i = 0; i < count; i += 1) {
    audit.record({ action: "tool.call", actor: `a${i}` });
    if (i % 1_000 === 999) await audit.flush();
  }
  await audit.close();
  db.close();
}

test("mcpx audit verify holds after pruning, says what was pruned, and exports still verify", {
  timeout: 120_000,
}, async () => {
  const dir = scratch();
  const run = async (...args: string[]) => await mcpx([...args, "--data", dir], { cwd: dir });
  await write(dir, 400, 1_000_000);
  const before = await run("audit", "verify");
  expect(before.out).toMatch(/^the chain is whole: 400 records, head [0-9a-f]{64}$/m);
  expect(before.out).not.toContain("pruned");
  await run("audit", "--export", "early.jsonl");
  await write(dir, 100, 250);
  const after = await run("audit", "verify");
  expect(after.code).toBe(0);
  expect(after.out).toMatch(/records 1 to 250 were pruned, last on .*, as the chain itself says/);
  expect(after.out).toMatch(/the chain is whole: 251 records/);
  await run("audit", "--export", "late.jsonl");
  const late = await run("audit", "verify", "late.jsonl", "--live");
  expect([late.code, late.out]).toEqual([0, expect.stringContaining("the export begins with record 251")]);
  expect((await run("audit", "verify", "early.jsonl", "--live")).code).toBe(0);
  await write(dir, 600, 250);
  const gone = await run("audit", "verify", "early.jsonl", "--live");
  expect(gone.code).not.toBe(0);
  expect(gone.err).toContain("has pruned its records to");
});
