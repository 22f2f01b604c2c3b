// What every store of gates has to do.
import { setImmediate as turn } from "node:timers/promises";
import type { Clock } from "@mcpx/host";
import { cautious } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { createSettableClock } from "../registration/registration-store-cases.ts";
import type { ApprovalGiven, Gate, GateStore, GateWish } from "./gate-store.ts";
import type { GateStoreOptions } from "./gate-verbs.ts";

export const wishOf = (more: Partial<GateWish> = {}): GateWish => ({
  principal: "agent",
  session: "s1",
  tool: "files.delete",
  argumentsText: '{"path":"/tmp/x"}',
  digest: "sha256:x",
  route: ["plant", "files", "delete"],
  capability: cautious,
  why: "irreversible",
  approvers: 1,
  ...more,
});

export const approvalOf = (by = "alice", proofHash = `hash of ${by}`): ApprovalGiven => ({
  by,
  thumbprint: `key of ${by}`,
  proof: `proof of ${by}`,
  proofHash,
});

export const refused = (code: string, detail = "") =>
  expect.objectContaining({ code, detail: expect.stringContaining(detail) });

export const lifeMs = 300_000;
const joinMs = 600_000;

/** As many as are wanted at once, and what each got. */
export const race = <T>(work: (i: number) => Promise<T>, times = 100): Promise<T[]> =>
  Promise.all(
    Array.from({ length: times }, async (_, i) => {
      await turn();
      return work(i);
    }),
  );

type Start = (options?: Pick<GateStoreOptions, "limits">) => {
  clock: ReturnType<typeof createSettableClock>;
  store: GateStore;
  /** A gate of its own. */
  gate(more?: Partial<GateWish>): Promise<Gate>;
  /** One that was released. */
  consumed(more?: Partial<GateWish>): Promise<Gate>;
};

export function gateStoreCases(open: (options: GateStoreOptions & { clock: Clock }) => GateStore): void {
  const start: Start = (options = {}) => {
    const clock = createSettableClock();
    const store = open({ clock, ...options });
    const gate = async (more: Partial<GateWish> = {}) => (await store.open(wishOf(more), lifeMs)).gate;
    const consumed = async (more: Partial<GateWish> = {}) => {
      const { id } = await gate(more);
      await store.approve(id, approvalOf("alice", `proof for ${id}`));
      expect(await store.consume(id)).toBe(true);
      return { ...(await gate(more)) };
    };
    return { clock, store, gate, consumed };
  };
  openingCases(start);
  decidingCases(start);
  dispatchingCases(start);
  joiningCases(start);
  timeCases(start);
  boundCases(start);
}

function openingCases(start: Start): void {
  test("[AX-11.3-1] a gate waits with everything its approvers and its dispatch need", async () => {
    const { clock, store } = start();
    const { gate, isNew } = await store.open(wishOf(), lifeMs);
    expect(isNew).toBe(true);
    expect(gate).toEqual({
      ...wishOf(),
      id: expect.stringMatching(/^[\w-]{32}$/),
      nonce: expect.stringMatching(/^[\w-]{32}$/),
      status: "pending",
      approvals: [],
      createdAt: clock.now(),
      expiresAt: clock.now() + lifeMs,
      isDelivered: false,
    });
    expect(await store.find(gate.id)).toEqual(gate);
    expect(gate.nonce).not.toBe(gate.id);
  });

  test("arguments come back byte for byte", async () => {
    const { store, gate } = start();
    const texts = [
      '{"n":9007199254740993, "m":1.0,\n"e":1E400 ,"n":1}',
      String.raw`{"s":"\ud800 \u0000 \/ é"}`,
      '{"s":"é é 😀 \u2028"}',
      "'; DROP TABLE gates; --",
      "",
    ];
    for (const [i, argumentsText] of texts.entries()) {
      const { id } = await gate({ argumentsText, digest: `sha256:${i}` });
      await store.approve(id, approvalOf("alice", `${i}`));
      await store.consume(id);
      expect((await store.find(id))?.argumentsText).toBe(argumentsText);
    }
  });

  test("names are any text", async () => {
    const { store, gate } = start();
    for (const principal of ["__proto__", "a'; DROP TABLE gates; --", "ä\u0000b", "A", "a", ""]) {
      const { id } = await gate({ principal });
      expect(await store.findOpen(principal, "files.delete", "sha256:x")).toMatchObject({ id, principal });
    }
    expect(await store.list()).toHaveLength(6);
  });

  test("half a character is refused before it becomes another one", async () => {
    const { gate } = start();
    await expect(gate({ argumentsText: '{"s":"\ud800"}' })).rejects.toThrow(refused("bad_field"));
  });

  test("ids and nonces of a thousand gates are all different", async () => {
    const { store, gate } = start();
    const gates = await Promise.all(Array.from({ length: 1_000 }, (_, i) => gate({ principal: `${i}` })));
    expect(new Set(gates.flatMap(({ id, nonce }) => [id, nonce])).size).toBe(2_000);
    expect(await store.list({ status: "pending" })).toHaveLength(1_000);
  });

  test("a list has the newest first, by status, without the large texts", async () => {
    const { store, gate } = start();
    const first = await gate({ digest: "sha256:1" });
    const second = await gate({ digest: "sha256:2" });
    await store.reject(first.id, { by: "alice" });
    const { argumentsText: _, ...listed } = second;
    expect(await store.list({ status: "pending" })).toEqual([listed]);
    expect((await store.list()).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(await store.list({ status: "done" })).toEqual([]);
  });
}

function decidingCases(start: Start): void {
  test("[AX-11.3-5] an approval releases the gate, and is kept with its proof", async () => {
    const { clock, store, gate } = start();
    const { id } = await gate();
    const approved = await store.approve(id, approvalOf());
    expect(approved).toMatchObject({
      status: "approved",
      approvals: [{ ...approvalOf(), at: clock.now() }],
    });
    expect(await store.find(id)).toEqual(approved);
  });

  test("two approvers are two: the same name, key or proof counts once", async () => {
    const { store, gate } = start();
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

  test("[AX-11.3-2] a proof is good once ever, whatever the gate", async () => {
    const { store, gate } = start();
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
    const { clock, store, gate } = start();
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

  test("its caller may withdraw it while nobody has decided", async () => {
    const { store, gate } = start();
    const { id } = await gate();
    expect(await store.withdraw(id)).toMatchObject({ status: "withdrawn" });
    for (const late of [() => store.approve(id, approvalOf()), () => store.reject(id, { by: "bob" })]) {
      await expect(late()).rejects.toThrow(refused("confirmation_used", "withdrawn"));
    }
    await expect(store.withdraw(id)).rejects.toThrow(refused("confirmation_used"));
  });

  test("[AX-11.3-5] the first decision wins, and unknown is its own reason", async () => {
    const { store, gate, consumed } = start();
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
    const { store, gate } = start();
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

function dispatchingCases(start: Start): void {
  test("[AX-11.3-5] of a hundred who would dispatch exactly one may", async () => {
    const { store, gate } = start();
    const { id } = await gate();
    expect((await race(() => store.consume(id))).filter(Boolean)).toHaveLength(0);
    await store.approve(id, approvalOf());
    expect((await race(() => store.consume(id))).filter(Boolean)).toHaveLength(1);
    expect((await race(() => store.consume(id))).filter(Boolean)).toHaveLength(0);
    expect(await store.find(id)).toMatchObject({ status: "consumed" });
  });

  test.each(["done", "failed", "indeterminate"] as const)("what came of it is kept: %s", async (status) => {
    const { clock, store, consumed } = start();
    const { id } = await consumed();
    const resultText = '{"content":[],"n":9007199254740993}';
    expect(await store.settle(id, { status, resultText })).toBe(true);
    expect(await store.find(id)).toMatchObject({ status, resultText, settledAt: clock.now() });
    expect(await store.settle(id, { status: "failed" })).toBe(false);
    expect(await store.consume(id)).toBe(false);
    expect(await store.find(id)).toMatchObject({ status, resultText });
  });

  test("nothing is settled that was not consumed", async () => {
    const { store, gate } = start();
    const { id } = await gate();
    expect(await store.settle(id, { status: "done" })).toBe(false);
    await store.approve(id, approvalOf());
    expect(await store.settle(id, { status: "done" })).toBe(false);
    expect(await store.settle("nobody", { status: "done" })).toBe(false);
  });

  test("[AX-11.3-5] consumed without an outcome is indeterminate at the next start, and never dispatched", async () => {
    const { store, gate, consumed } = start();
    const { id } = await consumed({ digest: "sha256:1" });
    const waiting = await gate({ digest: "sha256:2" });
    expect(await store.recover()).toMatchObject([{ id, status: "indeterminate" }]);
    expect(await store.recover()).toEqual([]);
    expect(await store.consume(id)).toBe(false);
    expect(await store.settle(id, { status: "done" })).toBe(false);
    expect(await store.find(waiting.id)).toMatchObject({ status: "pending" });
  });

  test("an outcome is delivered once, and nothing before there is one", async () => {
    const { store, consumed } = start();
    const { id } = await consumed();
    expect(await store.deliver(id)).toBe(false);
    await store.settle(id, { status: "done" });
    expect((await race(() => store.deliver(id))).filter(Boolean)).toHaveLength(1);
    expect(await store.find(id)).toMatchObject({ status: "done", isDelivered: true });
    expect(await store.deliver("nobody")).toBe(false);
  });
}

function joiningCases(start: Start): void {
  test("the same call of the same principal joins, from first to last", async () => {
    const { store, gate } = start();
    const { id } = await gate();
    const joins = async () => (await gate()).id === id;
    expect(await joins()).toBe(true);
    await store.approve(id, approvalOf());
    expect(await joins()).toBe(true);
    await store.consume(id);
    expect(await joins()).toBe(true);
    await store.settle(id, { status: "done", resultText: "{}" });
    expect(await store.open(wishOf(), lifeMs)).toMatchObject({
      isNew: false,
      gate: { id, status: "done", resultText: "{}" },
    });
    await store.deliver(id);
    expect(await store.findOpen("agent", "files.delete", "sha256:x")).toBeUndefined();
    expect(await joins()).toBe(false);
  });

  test.each([{ principal: "other" }, { tool: "files.write" }, { digest: "sha256:y" }])(
    "another one does not: %o",
    async (more) => {
      const { store, gate } = start();
      const { id } = await gate();
      expect((await gate(more)).id).not.toBe(id);
      expect(await store.list()).toHaveLength(2);
    },
  );

  test("of a hundred same calls at once one opens the gate", async () => {
    const { store } = start();
    const opened = await race(() => store.open(wishOf(), lifeMs));
    expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(opened.map(({ gate }) => gate.id)).size).toBe(1);
  });

  test("an outcome waits ten minutes for its caller", async () => {
    const { clock, store, gate, consumed } = start();
    const { id } = await consumed();
    clock.advance(lifeMs);
    await store.settle(id, { status: "failed", resultText: "{}" });
    clock.advance(joinMs - 1);
    expect(await store.findOpen("agent", "files.delete", "sha256:x")).toMatchObject({ id });
    clock.advance(1);
    expect(await store.findOpen("agent", "files.delete", "sha256:x")).toBeUndefined();
    expect((await gate()).id).not.toBe(id);
  });

  test("a rejection is heard once, and what was withdrawn is not heard again", async () => {
    const { store, gate } = start();
    const { id } = await gate();
    await store.reject(id, { by: "alice", reason: "no" });
    expect(await gate()).toMatchObject({ id, status: "rejected", reason: "no" });
    await store.deliver(id);
    const second = await gate();
    expect(second).toMatchObject({ status: "pending" });
    await store.withdraw(second.id);
    expect((await gate()).id).not.toBe(second.id);
  });
}

function timeCases(start: Start): void {
  test("[AX-11.3-1] nobody decides after its time", async () => {
    const { clock, store, gate } = start();
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
    await expect(store.withdraw(id)).rejects.toThrow(refused("confirmation_expired"));
    expect(await store.expire()).toMatchObject([{ id, status: "expired" }]);
    expect(await store.expire()).toEqual([]);
    expect(await store.list({ status: "expired" })).toMatchObject([{ id }]);
  });

  test("[AX-11.3-1] what was approved and not released in time is not released later", async () => {
    const { clock, store, gate } = start();
    const { id } = await gate();
    await store.approve(id, approvalOf());
    clock.advance(lifeMs);
    expect(await store.consume(id)).toBe(false);
    expect(await store.expire()).toMatchObject([{ id, status: "expired" }]);
    expect(await store.consume(id)).toBe(false);
  });

  test("what is on its way does not expire", async () => {
    const { clock, store, consumed } = start();
    const { id } = await consumed();
    clock.advance(10 * lifeMs);
    expect(await store.expire()).toEqual([]);
    expect(await store.settle(id, { status: "done" })).toBe(true);
  });

  test("an expiry that was heard before it was written down is still told, and heard once", async () => {
    const { clock, store, gate } = start();
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
      const { clock, store, gate } = start();
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

function boundCases(start: Start): void {
  test("[AX-11.3-5] one caller has twenty waiting, and others have theirs", async () => {
    const { clock, store, gate } = start();
    const gates = await Promise.all(Array.from({ length: 20 }, (_, i) => gate({ digest: `sha256:${i}` })));
    const more = () => gate({ digest: "sha256:more" });
    await expect(more()).rejects.toThrow(refused("too_many_gates", "this caller"));
    expect((await gate({ digest: "sha256:0" })).id).toBe(gates[0]?.id);
    await gate({ principal: "other", digest: "sha256:more" });
    await store.approve(gates[0]?.id ?? "", approvalOf());
    await expect(more()).rejects.toThrow(refused("too_many_gates"));
    await store.consume(gates[0]?.id ?? "");
    await more();
    await expect(gate({ digest: "sha256:another" })).rejects.toThrow(refused("too_many_gates"));
    clock.advance(lifeMs);
    await gate({ digest: "sha256:another" });
  });

  test("a race for the last place has one winner", async () => {
    const { gate } = start({ limits: { waitingPerPrincipalMax: 1 } });
    const opened = await race((i) => gate({ digest: `sha256:${i}` }).catch(() => undefined));
    expect(opened.filter((gate) => gate !== undefined)).toHaveLength(1);
  });

  test("all callers together have so many, and so much", async () => {
    const limits = {
      waitingMax: 3,
      waitingCharsMax: 100,
      waitingCharsPerPrincipalMax: 60,
      argumentsCharsMax: 50,
    };
    const { gate } = start({ limits });
    const text = (chars: number) => "x".repeat(chars);
    await expect(gate({ argumentsText: text(51) })).rejects.toThrow(refused("too_large", "50"));
    await gate({ principal: "a", digest: "1", argumentsText: text(50) });
    await expect(gate({ principal: "a", digest: "2", argumentsText: text(11) })).rejects.toThrow(
      refused("too_many_gates", "this caller"),
    );
    await gate({ principal: "a", digest: "2", argumentsText: text(10) });
    await expect(gate({ principal: "b", argumentsText: text(41) })).rejects.toThrow(
      refused("too_many_gates", "all callers"),
    );
    await gate({ principal: "b", argumentsText: text(40) });
    await expect(gate({ principal: "c", argumentsText: "" })).rejects.toThrow(
      refused("too_many_gates", "all callers"),
    );
  });

  test("a result too large to keep is not kept, and the rest is", async () => {
    const { store, consumed } = start({ limits: { resultCharsMax: 10 } });
    const { id } = await consumed();
    await store.settle(id, { status: "done", resultText: "x".repeat(11) });
    const gate = await store.find(id);
    expect(gate).toMatchObject({ status: "done", argumentsText: '{"path":"/tmp/x"}' });
    expect(gate?.resultText).toBeUndefined();
  });

  test("so many that are over are remembered, first those nobody has heard of", async () => {
    const { store, gate } = start({ limits: { finishedMax: 3 } });
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) {
      const { id } = await gate({ digest: `sha256:${i}` });
      ids.push(id);
      await store.reject(id, { by: "alice" });
      if (i % 2 === 0) await store.deliver(id);
    }
    const last = await gate({ digest: "sha256:last" });
    const kept = (await store.list()).map(({ id }) => id);
    expect(kept).toEqual([last.id, ids[4], ids[3], ids[1]]);
    expect(await store.find(ids[0] ?? "")).toBeUndefined();
    // Forgotten is not undone.
    expect(await store.consume(ids[0] ?? "")).toBe(false);
  });

  test("so much of what is over is remembered, and nothing that waits is forgotten for it", async () => {
    const { store, gate } = start({ limits: { finishedCharsMax: 100 } });
    const waiting = await gate({ digest: "sha256:waiting", argumentsText: "x".repeat(200) });
    for (let i = 0; i < 5; i++) {
      const { id } = await gate({ digest: `sha256:${i}`, argumentsText: "x".repeat(40) });
      await store.reject(id, { by: "alice" });
    }
    await gate({ digest: "sha256:last" });
    expect(await store.list({ status: "rejected" })).toHaveLength(2);
    expect(await store.find(waiting.id)).toMatchObject({ status: "pending" });
  });

  test("a proof without bounds is refused", async () => {
    const { store, gate } = start();
    const { id } = await gate();
    const approval = { ...approvalOf(), proof: "x".repeat(65_537) };
    await expect(store.approve(id, approval)).rejects.toThrow(refused("bad_proof"));
    expect(await store.find(id)).toMatchObject({ status: "pending" });
  });
}
