import { generateKeyPairSync } from "node:crypto";
import { createAudit, createLogger, createManualClock, createSqliteAuditStore, openState } from "@mcpx/host";
import { expect, test } from "vitest";
import { openTreeState } from "../testing/open-tree-state.ts";
import { createAuthorityCards } from "./authority-cards.ts";
import { createSqliteChainStore } from "./chain/chain-store-sqlite.ts";
import { openChain } from "./chain/keep-chain.ts";
import { createGatekeeper } from "./gatekeeper.ts";
import { createSqliteGateStore } from "./store/gate-store-sqlite.ts";
import { approvalOf } from "./testing/gate-wishes.ts";

/** Panic, and anna who approves: its end needs her signature. */
async function start() {
  const clock = createManualClock();
  const log = createLogger({ level: "silent" });
  const audit = createAudit({ store: createSqliteAuditStore(openState(":memory:")), clock, log });
  const store = createSqliteGateStore({ db: openTreeState(), clock });
  const chain = await openChain({
    ...{ store: createSqliteChainStore(openTreeState()), aggregatorId: "a1", clock, audit, actor: "test" },
  });
  const { publicKey } = generateKeyPairSync("ed25519");
  const jwk = { ...publicKey.export({ format: "jwk" }) };
  await chain.settle(() => [
    { key: "approver/anna", value: { name: "anna", jwk } },
    { key: "panic", value: true },
  ]);
  const options = { store, aggregatorId: "a1", anchors: [], approveUrl: (id: string) => id };
  const gates = createGatekeeper({ ...options, clock, audit, rules: [] } as never);
  return { store, cards: createAuthorityCards({ gates, chain, log, signed: async () => {} }) };
}

test("[B-KEY-2] a card that is being signed stays the card, and one that has ended is asked for anew", async () => {
  const { store, cards } = await start();
  const want = async () => (await cards.want("panic", [{ key: "panic", value: null }])).get("panic") ?? "";
  const first = await want();
  await store.approve(first, approvalOf("anna"));
  expect(await want()).toBe(first);
  await store.consume(first);
  expect(await want()).toBe(first);
  await store.settle(first, { status: "done" });
  const second = await want();
  expect(second).not.toBe(first);
  expect((await store.find(second))?.status).toBe("pending");
});
