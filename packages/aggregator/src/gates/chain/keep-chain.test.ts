import { createAudit, createLogger, createManualClock, openDatabase, openState } from "@mcpx/host";
import { expect, test } from "vitest";
import { aggregatorMigrations } from "../../tree/migrations.ts";
import { openChain } from "./keep-chain.ts";

function openTwo() {
  const clock = createManualClock();
  const log = createLogger({ level: "silent" });
  const audit = createAudit({ db: openState(":memory:"), clock, log });
  const db = openDatabase(":memory:", { component: "aggregator", migrations: aggregatorMigrations });
  const open = (actor: string) => openChain({ db, aggregatorId: "a1", clock, audit, actor });
  return Promise.all([open("gateway"), open("cli:anna")]);
}

const panic = { key: "panic", value: true } as const;

test("[B-KEY-2] of two that write the same at once the second takes over what the first wrote", async () => {
  const [gateway, command] = await openTwo();
  expect(gateway.settle([panic])).toEqual([]);
  expect(() => command.settle([panic]), "control").toThrow("the chain has grown meanwhile");
  expect(command.isBehind()).toBe(true);
  expect(await command.settleAfterOthers([panic])).toEqual([]);
  expect(command.isBehind()).toBe(false);
  expect(command.now().head).toEqual(gateway.now().head);
  expect(command.now().state.get("panic")).toBe(true);
});
