import { createAudit, createLogger, createManualClock, createSqliteAuditStore, openState } from "@mcpx/host";
import { expect, test } from "vitest";
import { openTreeState } from "../../testing/open-tree-state.ts";
import { createSqliteChainStore } from "./chain-store-sqlite.ts";
import { openChain } from "./keep-chain.ts";

function openTwo() {
  const clock = createManualClock();
  const log = createLogger({ level: "silent" });
  const audit = createAudit({ store: createSqliteAuditStore(openState(":memory:")), clock, log });
  const store = createSqliteChainStore(openTreeState());
  const open = (actor: string) => openChain({ store, aggregatorId: "a1", clock, audit, actor });
  return Promise.all([open("gateway"), open("cli:anna")]);
}

const panic = { key: "panic", value: true } as const;

test("[B-KEY-2] of two that write the same at once the second takes over what the first wrote", async () => {
  const [gateway, command] = await openTwo();
  expect(await gateway.settle([panic])).toEqual([]);
  await expect(command.settle([panic]), "control").rejects.toThrow("the chain has grown meanwhile");
  expect(await command.isBehind()).toBe(true);
  expect(await command.settleAfterOthers([panic])).toEqual([]);
  expect(await command.isBehind()).toBe(false);
  expect(command.now().head).toEqual(gateway.now().head);
  expect(command.now().state.get("panic")).toBe(true);
});
