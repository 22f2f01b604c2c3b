import { createAudit, createLogger, createManualClock, createSqliteAuditStore, openState } from "@mcpx/host";
import { expect, test } from "vitest";
import { openTreeState } from "../../testing/open-tree-state.ts";
import type { AuthorityChange } from "./authority-state.ts";
import { createSqliteChainStore } from "./chain-store-sqlite.ts";
import { openChain } from "./keep-chain.ts";

async function openTwo() {
  const clock = createManualClock();
  const log = createLogger({ level: "silent" });
  const audit = createAudit({ store: createSqliteAuditStore(openState(":memory:")), clock, log });
  const store = createSqliteChainStore(openTreeState());
  /** What the gateway was told that others have changed. */
  const told: (readonly AuthorityChange[])[] = [];
  const open = (actor: string) => openChain({ store, aggregatorId: "a1", clock, audit, actor });
  const [gateway, command] = await Promise.all([open("gateway"), open("cli:anna")]);
  gateway.onGrown = async (changes) => void told.push(changes);
  return { gateway, command, told };
}

const panic = { key: "panic", value: true } as const;
const calm = { key: "panic", value: null } as const;

test("[B-KEY-2] of two that write the same at once the second takes over what the first wrote", async () => {
  const { gateway, command, told } = await openTwo();
  expect(await gateway.settle(() => [panic])).toEqual([]);
  const asked: unknown[] = [];
  const wanted = (state: ReadonlyMap<string, unknown>) => {
    asked.push(state.get("panic"));
    return [panic];
  };
  expect(await command.settle(wanted)).toEqual([]);
  expect(asked, "the command is asked again, by what the gateway has written").toEqual([undefined, true]);
  expect(command.now().head).toEqual(gateway.now().head);
  expect(command.now().state.get("panic")).toBe(true);
  expect(told, "what the gateway writes itself is no news").toEqual([]);
});

test("[B-KEY-2] what a command has appended is told once, whoever notices it", async () => {
  const { gateway, command, told } = await openTwo();
  await command.settle(() => [panic]);
  await Promise.all([gateway.refresh(), gateway.refresh(), gateway.settle(() => [panic])]);
  expect(told).toEqual([[panic]]);
  await command.refresh();
  await command.settle(() => [calm]);
  // The gateway finds out while it writes something itself.
  await gateway.settle(() => [{ key: "unpinned", value: true }]);
  await gateway.refresh();
  expect(told.slice(1)).toEqual([expect.arrayContaining([calm])]);
});

test("[B-KEY-2] what others have changed is kept until it could be carried out", async () => {
  const { gateway, command, told } = await openTwo();
  const hear = gateway.onGrown;
  gateway.onGrown = undefined;
  await command.settle(() => [panic]);
  await gateway.refresh();
  gateway.onGrown = () => Promise.reject(new Error("the store is full"));
  await expect(gateway.refresh()).rejects.toThrow("the store is full");
  gateway.onGrown = hear;
  await gateway.refresh();
  expect(told).toEqual([[panic]]);
});
