// Results that are held, as every store of gates has to do it.
import { expect, test } from "vitest";
import { approvalOf, lifeMs, race, refused, type Start } from "../testing/gate-wishes.ts";
import { resultDigest } from "./hold-steps.ts";

const result = { status: "done", resultText: '{"result":{"n":9007199254740993, "s":"é 😀"}}' } as const;
const wish = { holdsResult: true };

export function holdCases(start: Start): void {
  const held = async (more = {}, options = {}) => {
    const started = await start(options);
    const { id } = await started.consumed({ ...wish, ...more });
    expect(await started.store.hold(id, result, lifeMs)).toBe(true);
    return { ...started, id };
  };

  test("a result is held byte for byte, with a time of its own", async () => {
    const { clock, store, consumed } = await start();
    const { id } = await consumed(wish);
    clock.advance(lifeMs - 1);
    expect(await store.hold(id, result, lifeMs)).toBe(true);
    expect(await store.find(id)).toMatchObject({
      status: "held",
      resultText: result.resultText,
      heldAt: clock.now(),
      expiresAt: clock.now() + lifeMs,
      review: { outcome: "done", digest: resultDigest(result.resultText), approvals: [] },
    });
    expect(await store.list({ status: "held" })).toMatchObject([{ id }]);
    clock.advance(lifeMs - 1);
    expect(await store.expire()).toEqual([]);
  });

  test("what is not under way is not held, and is held once", async () => {
    const { store, gate, consumed } = await start();
    const { id: pending } = await gate({ ...wish, digest: "sha256:1" });
    expect(await store.hold(pending, result, lifeMs)).toBe(false);
    const { id } = await consumed(wish);
    expect((await race(() => store.hold(id, result, lifeMs))).filter(Boolean)).toHaveLength(1);
    expect(await store.settle(id, { status: "done", resultText: "{}" })).toBe(false);
    expect(await store.consume(id)).toBe(false);
  });

  test.each(["done", "failed"] as const)("released, it is what it was: %s", async (status) => {
    const { store, consumed } = await start();
    const { id } = await consumed(wish);
    await store.hold(id, { ...result, status }, lifeMs);
    expect(await store.handOver(id)).toBe(false);
    expect(await store.deliver(id)).toBe(false);
    await store.approveResult(id, approvalOf("alice", "of the result"));
    expect(await store.find(id)).toMatchObject({ status: "held" });
    expect((await race(() => store.handOver(id))).filter(Boolean)).toHaveLength(1);
    expect(await store.find(id)).toMatchObject({ status, resultText: result.resultText, isDelivered: false });
    expect(await store.deliver(id)).toBe(true);
  });

  test("as many as approve a call release its result, each of them once; whoever approved it may", async () => {
    const { store, gate } = await start();
    const { id } = await gate({ ...wish, approvers: 2 });
    for (const by of ["alice", "bob"]) await store.approve(id, approvalOf(by));
    await store.consume(id);
    await store.hold(id, result, lifeMs);
    await store.approveResult(id, approvalOf("alice", "r1"));
    expect(await store.handOver(id)).toBe(false);
    const again = [approvalOf("alice", "r2"), { ...approvalOf("bob", "r2"), thumbprint: "key of alice" }];
    for (const approval of again) {
      await expect(store.approveResult(id, approval)).rejects.toThrow(refused("confirmation_used"));
    }
    const own = { ...approvalOf("carol", "r3"), thumbprint: "key of the agent" };
    await expect(store.approveResult(id, own)).rejects.toThrow(refused("self_approval"));
    await store.approveResult(id, approvalOf("bob", "r2"));
    expect(await store.handOver(id)).toBe(true);
  });

  test("a proof that has let the call go releases nothing", async () => {
    const { store, gate } = await start();
    const { id } = await gate(wish);
    await store.approve(id, approvalOf("alice", "p"));
    await store.consume(id);
    await store.hold(id, result, lifeMs);
    await expect(store.approveResult(id, approvalOf("bob", "p"))).rejects.toThrow(
      refused("confirmation_used", "proof was used"),
    );
    expect(await store.handOver(id)).toBe(false);
  });

  test("what was not made has no result to release; what is held needs no approval any more", async () => {
    const { store, gate, id } = await held({ digest: "sha256:1" });
    const { id: pending } = await gate(wish);
    await expect(store.approveResult(pending, approvalOf())).rejects.toThrow(refused("bad_proof"));
    await expect(store.rejectResult(pending, { by: "alice" })).rejects.toThrow(refused("bad_proof"));
    await expect(store.approve(id, approvalOf("bob"))).rejects.toThrow(refused("confirmation_used"));
    await expect(store.reject(id, { by: "bob" })).rejects.toThrow(refused("confirmation_used"));
    expect(await store.find(id)).toMatchObject({ status: "held" });
  });

  test("withheld, it is gone for good, with the reason", async () => {
    const { store, id } = await held();
    const gate = await store.rejectResult(id, { by: "alice", reason: "salaries", proofHash: "r" });
    expect(gate).toMatchObject({ status: "withheld", rejectedBy: "alice", reason: "salaries" });
    const after = await store.find(id);
    expect(after?.resultText).toBeUndefined();
    expect(after?.settledAt).toBeDefined();
    await expect(store.approveResult(id, approvalOf("bob", "r2"))).rejects.toThrow(
      refused("confirmation_used", "withheld"),
    );
    expect(await store.handOver(id)).toBe(false);
  });

  test("nobody looks at it in time: withheld, also where it was half released, and never handed over", async () => {
    const { clock, store, id } = await held({ approvers: 1 });
    await store.approveResult(id, approvalOf("alice", "r"));
    clock.advance(lifeMs);
    expect(await store.find(id)).toMatchObject({ status: "withheld", resultText: undefined });
    expect(await store.handOver(id)).toBe(false);
    await expect(store.approveResult(id, approvalOf("bob", "r2"))).rejects.toThrow(
      refused("confirmation_used"),
    );
    expect(await store.expire()).toMatchObject([{ id, status: "withheld", reason: expect.any(String) }]);
    expect((await store.find(id))?.resultText).toBeUndefined();
    expect(await store.expire()).toEqual([]);
  });

  test("what is too large to be kept is withheld, and says so", async () => {
    const { store, consumed } = await start({ limits: { resultCharsMax: 10 } });
    const { id } = await consumed(wish);
    expect(await store.hold(id, result, lifeMs)).toBe(true);
    expect(await store.find(id)).toMatchObject({
      status: "withheld",
      reason: expect.stringContaining("large"),
    });
    // The control: one that is not.
    const { id: small } = await consumed({ ...wish, digest: "sha256:1" });
    await store.hold(small, { status: "done", resultText: "{}" }, lifeMs);
    expect(await store.find(small)).toMatchObject({ status: "held", resultText: "{}" });
  });

  test("the same call joins while its result is held; keys that come with it release nothing", async () => {
    const { store, gate, id } = await held({ approvers: 1 });
    await store.approveResult(id, approvalOf("bob", "r"));
    const joined = await gate({ ...wish, keys: ["key of bob"] });
    expect(joined).toMatchObject({ id, status: "held", review: { approvals: [] } });
    expect(await store.handOver(id)).toBe(false);
    await expect(store.approveResult(id, approvalOf("bob", "r2"))).rejects.toThrow(refused("self_approval"));
  });

  test("what is held counts as waiting", async () => {
    const { gate } = await held({}, { limits: { waitingPerPrincipalMax: 1 } });
    await expect(gate({ digest: "sha256:1" })).rejects.toThrow(refused("too_many_gates"));
  });

  test("a call that waits for nobody is ready at once, and goes once", async () => {
    const { store, gate } = await start();
    const { id, status } = await gate({ ...wish, isAllowed: true });
    expect(status).toBe("approved");
    expect((await race(() => store.consume(id))).filter(Boolean)).toHaveLength(1);
  });

  test("a call that was made before it had a gate is under way from the first, and nobody says that it was never sent", async () => {
    const { store, another, gate } = await start();
    const made = await gate({ ...wish, isAllowed: true, isMade: true });
    expect(made.status).toBe("consumed");
    expect(await store.consume(made.id)).toBe(false);
    expect(await store.hold(made.id, result, lifeMs)).toBe(true);
    const lost = await gate({ ...wish, isAllowed: true, isMade: true, digest: "sha256:lost" });
    const second = await another("the second");
    expect(await second.recover()).toMatchObject([{ id: lost.id, status: "indeterminate" }]);
    expect(await store.find(made.id)).toMatchObject({ status: "held" });
  });
}
