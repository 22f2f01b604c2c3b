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

const rules = (unannotated: "ask" | "allow") => ({
  key: "rules",
  value: { rules: [], unannotated, quorum: 1 },
});

/** With one approver, who has to sign what makes gates weaker. */
async function desk() {
  const clock = createManualClock();
  const log = createLogger({ level: "silent" });
  const audit = createAudit({ store: createSqliteAuditStore(openState(":memory:")), clock, log });
  const db = openTreeState();
  const store = createSqliteGateStore({ db, clock });
  const chainStore = createSqliteChainStore(db);
  const chain = await openChain({ store: chainStore, aggregatorId: "a1", clock, audit, actor: "gateway" });
  const jwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const approver = { key: "approver/alice", value: { name: "alice", jwk } };
  await chain.settle(() => [approver, rules("ask")]);
  const gates = createGatekeeper({
    ...{ aggregatorId: "a1", store, rules: [], unannotated: "ask" as const, anchors: [] },
    approveUrl: (id) => `http://127.0.0.1/approve/${id}`,
  });
  const cards = createAuthorityCards({ gates, chain, log, signed: async () => {} });
  return {
    store,
    cards,
    want: async () => (await cards.want("config", [rules("allow")])).get("rules") ?? "",
  };
}

test("[B-KEY-2] a card that is just being carried out is not asked for anew, however often it is wanted", async () => {
  const { store, cards, want } = await desk();
  const card = await want();
  await store.approve(card, approvalOf());
  expect(await store.consume(card)).toBe(true);
  // The chain does not have it yet: whatever else changes meanwhile renews the cards.
  expect([await want(), await want()]).toEqual([card, card]);
  await store.settle(card, { status: "refused", refusal: "bad_proof", reason: "it failed" });
  await cards.renew();
  const again = await want();
  expect(again).not.toBe(card);
  expect(await store.find(again)).toMatchObject({ status: "pending" });
});
