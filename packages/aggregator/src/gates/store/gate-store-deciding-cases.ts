// Deciding, dispatching and running out of time, as every store of gates has to do it.
import { expect, test } from "vitest";
import {
  approvalOf,
  firstGateway,
  lifeMs,
  race,
  refused,
  type Start,
  wishOf,
} from "../testing/gate-wishes.ts";

export function decidingCases(start: Start): void {
  test("[AX-11.3-5] an approval releases the gate, and is kept with its proof", async () => {
    const { clock, store, gate } = await start();
    const { id } = await gate();
    const approved = await store.approve(id, approvalOf());
    expect(approved).toMatchObject({
      status: "approved",
      approvals: [{ ...approvalOf(), at: clock.now() }],
    });
    expect(await store.find(id)).toEqual(approved);
  });

  test("two approvers are two: the same name, key or proof counts once", async () => {
    const { store, gate } = await start();
    const { id } = await gate({ approvers: 2 });
    expect(await store.approve(id, approvalOf("alice"))).toMatchObject({ status: "pending" });
    const again = [
      approvalOf("alice", "fresh"),
      { ...approvalOf("alice", "fresh"), thumbprint: "her other key" },
      { ...approvalOf("bob", "fresh"), thumbprint: "key of alice" },
      approvalOf("bob", "hash of alice"),
    ];
    for (const approval of again) {
      await expect(store.approve(id, approval)).rejects.toThrow(refused("confirmation_used"));
    }
    expect(await store.consume(id)).toBe(false);
    // What was refused has spent nothing.
    expect(await store.approve(id, approvalOf("bob", "fresh"))).toMatchObject({ status: "approved" });
    expect(await store.consume(id)).toBe(true);
  });

  test("[AX-11.3-6] the caller's own keys approve nothing, whenever they become known", async () => {
    const { store, gate } = await start();
    const { id } = await gate({ approvers: 2 });
    const own = { ...approvalOf("alice"), thumbprint: "key of the agent" };
    await expect(store.approve(id, own)).rejects.toThrow(refused("self_approval"));
    await store.approve(id, approvalOf("alice"));
    expect(await store.approve(id, approvalOf("bob"))).toMatchObject({ status: "approved" });
    const joined = await gate({ keys: ["key of bob"] });
    expect(joined).toMatchObject({ id, status: "pending", keys: ["key of the agent", "key of bob"] });
    expect(joined.approvals.map(({ by }) => by)).toEqual(["alice"]);
    expect(await store.find(id)).toEqual(joined);
    expect(await store.consume(id)).toBe(false);
    await expect(store.approve(id, approvalOf("bob", "fresh"))).rejects.toThrow(refused("self_approval"));
    expect(await store.approve(id, approvalOf("carol"))).toMatchObject({ status: "approved" });
    expect(await gate({ keys: [] })).toMatchObject({ id, status: "approved" });
    expect(await store.consume(id)).toBe(true);
    expect(await gate({ keys: ["key of carol"] })).toMatchObject({ id, status: "consumed" });
  });

  test("[AX-11.3-6] a caller has so many keys and no more", async () => {
    const { store, gate } = await start();
    const { id } = await gate({ keys: Array.from({ length: 16 }, (_, i) => `${i}`) });
    await expect(gate({ keys: ["more"] })).rejects.toThrow(refused("too_many_gates", "keys"));
    expect((await store.find(id))?.keys).toHaveLength(16);
  });

  test("[AX-11.3-2] a proof is good once ever, whatever the gate", async () => {
    const { store, gate } = await start();
    const first = await gate({ digest: "sha256:1" });
    const second = await gate({ digest: "sha256:2" });
    await store.approve(first.id, approvalOf("alice", "p"));
    await expect(store.approve(second.id, approvalOf("alice", "p"))).rejects.toThrow(
      refused("confirmation_used", "proof was used"),
    );
    await expect(store.reject(second.id, { by: "alice", proofHash: "p" })).rejects.toThrow(
      refused("confirmation_used", "proof was used"),
    );
    expect(await store.find(second.id)).toMatchObject({ status: "pending", approvals: [] });
    expect(await store.useProof("p")).toBe(false);
    expect((await race(() => store.useProof("q"))).filter(Boolean)).toHaveLength(1);
    await expect(store.approve(second.id, approvalOf("alice", "q"))).rejects.toThrow(
      refused("confirmation_used"),
    );
  });

  test("a rejection ends it, with who and why", async () => {
    const { clock, store, gate } = await start();
    const { id } = await gate({ approvers: 2 });
    await store.approve(id, approvalOf("alice"));
    const rejection = { by: "bob", reason: "not on a Friday ß", proofHash: "r" };
    expect(await store.reject(id, rejection)).toMatchObject({
      status: "rejected",
      rejectedBy: "bob",
      reason: "not on a Friday ß",
      settledAt: clock.now(),
    });
    expect(await store.consume(id)).toBe(false);
    await expect(store.approve(id, approvalOf("carol"))).rejects.toThrow(
      refused("confirmation_used", "rejected"),
    );
    const long = await gate({ digest: "sha256:2" });
    await expect(store.reject(long.id, { by: "bob", reason: "r".repeat(1_001) })).rejects.toThrow(
      refused("bad_field"),
    );
  });

  test("[AX-11.3-5] the first decision wins, and unknown is its own reason", async () => {
    const { store, gate, consumed } = await start();
    const { id } = await gate({ digest: "sha256:1" });
    await store.approve(id, approvalOf());
    await expect(store.reject(id, { by: "bob" })).rejects.toThrow(refused("confirmation_used", "approved"));
    const done = await consumed();
    await store.settle(done.id, { status: "done", resultText: "{}" });
    await expect(store.approve(done.id, approvalOf("bob"))).rejects.toThrow(
      refused("confirmation_used", "done"),
    );
    for (const nobody of ["", "nobody", "__proto__"]) {
      await expect(store.approve(nobody, approvalOf())).rejects.toThrow(refused("confirmation_unknown"));
      await expect(store.reject(nobody, { by: "bob" })).rejects.toThrow(refused("confirmation_unknown"));
      expect(await store.find(nobody)).toBeUndefined();
      expect(await store.consume(nobody)).toBe(false);
    }
  });

  test("of approvals and rejections that race, one decides", async () => {
    const { store, gate } = await start();
    const { id } = await gate();
    const decided = await race((i) => {
      const decision =
        i % 2 === 0
          ? store.approve(id, approvalOf(`a${i}`))
          : store.reject(id, { by: `r${i}`, proofHash: `r${i}` });
      return decision.catch(() => undefined);
    });
    expect(decided.filter((gate) => gate !== undefined)).toHaveLength(1);
  });
}

export function dispatchingCases(start: Start): void {
  test("[AX-11.3-5] of a hundred who would dispatch exactly one may", async () => {
    const { store, gate } = await start();
    const { id } = await gate();
    expect((await race(() => store.consume(id))).filter(Boolean)).toHaveLength(0);
    await store.approve(id, approvalOf());
    expect((await race(() => store.consume(id))).filter(Boolean)).toHaveLength(1);
    expect((await race(() => store.consume(id))).filter(Boolean)).toHaveLength(0);
    expect(await store.find(id)).toMatchObject({ status: "consumed" });
  });

  test.each(["done", "failed", "indeterminate"] as const)("what came of it is kept: %s", async (status) => {
    const { clock, store, consumed } = await start();
    const { id } = await consumed();
    const resultText = '{"content":[],"n":9007199254740993}';
    expect(await store.settle(id, { status, resultText })).toBe(true);
    expect(await store.find(id)).toMatchObject({ status, resultText, settledAt: clock.now() });
    expect(await store.settle(id, { status: "failed" })).toBe(false);
    expect(await store.consume(id)).toBe(false);
    expect(await store.find(id)).toMatchObject({ status, resultText });
  });

  test("nothing is settled that was not consumed", async () => {
    const { store, gate } = await start();
    const { id } = await gate();
    expect(await store.settle(id, { status: "done" })).toBe(false);
    await store.approve(id, approvalOf());
    expect(await store.settle(id, { status: "done" })).toBe(false);
    expect(await store.settle("nobody", { status: "done" })).toBe(false);
  });

  test("[AX-11.3-5] what a dead gateway has consumed is indeterminate, and never dispatched; what a living one has is under way", async () => {
    const { store, another, gate, consumed } = await start();
    const { id } = await consumed({ digest: "sha256:1" });
    const waiting = await gate({ digest: "sha256:2" });
    const approved = await gate({ digest: "sha256:3" });
    await store.approve(approved.id, approvalOf());
    const allowed = await gate({ digest: "sha256:4", isAllowed: true });
    const second = await another("the second");
    expect(await store.recover()).toEqual([]);
    expect(await second.recover(new Set([firstGateway]))).toEqual([]);
    expect(await second.recover(new Set(["a third"]))).toMatchObject([
      { id, status: "indeterminate" },
      { id: approved.id, status: "refused", refusal: "never_sent" },
    ]);
    expect(await second.recover()).toEqual([]);
    for (const one of [store, second]) {
      expect(await one.consume(id)).toBe(false);
      expect(await one.settle(id, { status: "done" })).toBe(false);
      expect(await one.consume(approved.id)).toBe(false);
    }
    expect(await store.find(waiting.id)).toMatchObject({ status: "pending" });
    expect(await second.consume(allowed.id)).toBe(true);
    expect(await store.recover(new Set(["the second"]))).toEqual([]);
    expect(await store.recover()).toMatchObject([{ id: allowed.id, status: "indeterminate" }]);
  });

  test("[AX-11.3-5] of many gateways one dispatches, one decides last, and one has the last place", async () => {
    const { store, another, gate } = await start({ limits: { waitingPerPrincipalMax: 6 } });
    const gateways = [store, await another(), await another(), await another()];
    const at = (i: number) => gateways[i % gateways.length] ?? store;
    for (let round = 0; round < 5; round += 1) {
      const wish = wishOf({ digest: `sha256:${round}` });
      const opened = await race((i) => at(i).open(wish, lifeMs), 12);
      expect(new Set(opened.map(({ gate: { id } }) => id)).size).toBe(1);
      expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1);
      const { id } = await gate(wish);
      const decided = await race((i) => {
        const deciding = at(i).approve(id, approvalOf(`${round}.${i}`));
        return deciding.catch(() => undefined);
      }, 12);
      expect(decided.filter((one) => one !== undefined)).toHaveLength(1);
      expect((await race((i) => at(i).consume(id), 12)).filter(Boolean)).toHaveLength(1);
    }
    for (let i = 0; i < 5; i += 1) await gate({ digest: `sha256:waits ${i}` });
    const last = await race(
      (i) =>
        at(i)
          .open(wishOf({ digest: `sha256:last ${i}` }), lifeMs)
          .catch(() => undefined),
      12,
    );
    expect(last.filter((one) => one !== undefined)).toHaveLength(1);
  });

  test("an outcome is delivered once, and nothing before there is one", async () => {
    const { store, consumed } = await start();
    const { id } = await consumed();
    expect(await store.deliver(id)).toBe(false);
    await store.settle(id, { status: "done" });
    expect((await race(() => store.deliver(id))).filter(Boolean)).toHaveLength(1);
    expect(await store.find(id)).toMatchObject({ status: "done", isDelivered: true });
    expect(await store.deliver("nobody")).toBe(false);
  });
}

export function timeCases(start: Start): void {
  test("[AX-11.3-1] nobody decides after its time", async () => {
    const { clock, store, gate } = await start();
    const { id } = await gate({ approvers: 2 });
    await store.approve(id, approvalOf("alice"));
    clock.advance(lifeMs - 1);
    expect(await store.expire()).toEqual([]);
    expect(await store.find(id)).toMatchObject({ status: "pending" });
    clock.advance(1);
    expect(await store.find(id)).toMatchObject({ status: "expired" });
    expect(await store.list({ status: "pending" })).toEqual([]);
    await expect(store.approve(id, approvalOf("bob"))).rejects.toThrow(refused("confirmation_expired"));
    await expect(store.reject(id, { by: "bob" })).rejects.toThrow(refused("confirmation_expired"));
    expect(await store.expire()).toMatchObject([{ id, status: "expired" }]);
    expect(await store.expire()).toEqual([]);
    expect(await store.list({ status: "expired" })).toMatchObject([{ id }]);
  });

  test("[AX-11.3-1] what was approved and not released in time is not released later", async () => {
    const { clock, store, gate } = await start();
    const { id } = await gate();
    await store.approve(id, approvalOf());
    clock.advance(lifeMs);
    expect(await store.consume(id)).toBe(false);
    expect(await store.expire()).toMatchObject([{ id, status: "expired" }]);
    expect(await store.consume(id)).toBe(false);
  });

  test("what is on its way does not expire", async () => {
    const { clock, store, consumed } = await start();
    const { id } = await consumed();
    clock.advance(10 * lifeMs);
    expect(await store.expire()).toEqual([]);
    expect(await store.settle(id, { status: "done" })).toBe(true);
  });

  test("an expiry that was heard before it was written down is still told, and heard once", async () => {
    const { clock, store, gate } = await start();
    const { id } = await gate();
    clock.advance(lifeMs);
    expect(await gate()).toMatchObject({ id, status: "expired" });
    expect(await store.deliver(id)).toBe(true);
    const next = await gate();
    expect(next).toMatchObject({ status: "pending" });
    expect(await store.expire()).toMatchObject([{ id, status: "expired", isDelivered: true }]);
    expect(await store.find(next.id)).toMatchObject({ status: "pending" });
  });

  test.for([86_400_000, -86_400_000])(
    "a wall clock set by %i ms neither ends nor prolongs a gate",
    async (byMs) => {
      const { clock, store, gate } = await start();
      const { id } = await gate();
      clock.setWall(byMs);
      clock.advance(lifeMs - 1);
      expect(await store.expire()).toEqual([]);
      clock.advance(1);
      await expect(store.approve(id, approvalOf())).rejects.toThrow(refused("confirmation_expired"));
      expect(await store.expire()).toHaveLength(1);
    },
  );
}
