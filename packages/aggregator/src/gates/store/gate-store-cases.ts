// What every store of gates has to do.
import { expect, test } from "vitest";
import {
  approvalOf,
  joinMs,
  lifeMs,
  type OpenGateStores,
  race,
  refused,
  type Start,
  starter,
  wishOf,
} from "../testing/gate-wishes.ts";
import type { Gate } from "./gate-store.ts";
import { decidingCases, dispatchingCases, timeCases } from "./gate-store-deciding-cases.ts";
import { holdCases } from "./hold-cases.ts";

export function gateStoreCases(place: OpenGateStores): void {
  const start = starter(place);
  openingCases(start);
  decidingCases(start);
  dispatchingCases(start);
  joiningCases(start);
  timeCases(start);
  boundCases(start);
  holdCases(start);
}

function openingCases(start: Start): void {
  test("[AX-11.3-1] a gate waits with everything its approvers and its dispatch need", async () => {
    const { clock, store } = await start();
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
    const { store, gate } = await start();
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
    const { store, gate } = await start();
    for (const principal of ["__proto__", "a'; DROP TABLE gates; --", "ä\u0000b", "A", "a", ""]) {
      const { id } = await gate({ principal });
      expect(
        await store.findOpen({ principal: principal, tool: "files.delete", digest: "sha256:x" }),
      ).toMatchObject({ id, principal });
    }
    expect(await store.list()).toHaveLength(6);
  });

  test("half a character is refused before it becomes another one", async () => {
    const { gate } = await start();
    await expect(gate({ argumentsText: '{"s":"\ud800"}' })).rejects.toThrow(refused("bad_field"));
  });

  test("ids and nonces of hundreds of gates are all different", async () => {
    const { store, gate } = await start();
    const gates = await Promise.all(Array.from({ length: 200 }, (_, i) => gate({ principal: `${i}` })));
    expect(new Set(gates.flatMap(({ id, nonce }) => [id, nonce])).size).toBe(400);
    expect(await store.list({ status: "pending" })).toHaveLength(200);
  });

  test("[B-GATE-1] the call of the same tool that was done last before this one, of all callers or of one", async () => {
    const { store, gate, consumed } = await start();
    const made = [];
    for (const [principal, paper] of [
      ["agent", 1],
      ["other", 2],
      ["agent", 3],
    ] as const) {
      const one = await consumed({
        principal,
        digest: `sha256:${paper}`,
        argumentsText: `{"paper":${paper}}`,
      });
      made.push(one);
    }
    const [first, second, third] = made as [Gate, Gate, Gate];
    for (const { id } of [first, second]) await store.settle(id, { status: "done" });
    await store.settle(third.id, { status: "failed" });
    const now = await gate({ digest: "sha256:now" });
    expect(await store.findLast(now)).toMatchObject({ id: second.id, argumentsText: '{"paper":2}' });
    expect(await store.findLast(now, "agent")).toMatchObject({ id: first.id });
    expect(await store.findLast(second)).toMatchObject({ id: first.id });
    expect(await store.findLast(first)).toBeUndefined();
    expect(await store.findLast(await gate({ tool: "files.read", digest: "sha256:r" }))).toBeUndefined();
  });

  test("a list has the newest first, by status, without the large texts", async () => {
    const { store, gate } = await start();
    const first = await gate({ digest: "sha256:1" });
    const second = await gate({ digest: "sha256:2" });
    await store.reject(first.id, { by: "alice" });
    const { argumentsText: _, ...listed } = second;
    expect(await store.list({ status: "pending" })).toEqual([listed]);
    expect((await store.list()).map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(await store.list({ status: "done" })).toEqual([]);
  });
}

function joiningCases(start: Start): void {
  test("the same call of the same principal joins, from first to last", async () => {
    const { store, gate } = await start();
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
    expect(
      await store.findOpen({ principal: "agent", tool: "files.delete", digest: "sha256:x" }),
    ).toBeUndefined();
    expect(await joins()).toBe(false);
  });

  test.each([{ principal: "other" }, { tool: "files.write" }, { digest: "sha256:y" }])(
    "another one does not: %o",
    async (more) => {
      const { store, gate } = await start();
      const { id } = await gate();
      expect((await gate(more)).id).not.toBe(id);
      expect(await store.list()).toHaveLength(2);
    },
  );

  test("of a hundred same calls at once one opens the gate", async () => {
    const { store } = await start();
    const opened = await race(() => store.open(wishOf(), lifeMs));
    expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(opened.map(({ gate }) => gate.id)).size).toBe(1);
  });

  test("an outcome waits ten minutes for its caller", async () => {
    const { clock, store, gate, consumed } = await start();
    const { id } = await consumed();
    clock.advance(lifeMs);
    await store.settle(id, { status: "failed", resultText: "{}" });
    clock.advance(joinMs - 1);
    expect(
      await store.findOpen({ principal: "agent", tool: "files.delete", digest: "sha256:x" }),
    ).toMatchObject({ id });
    clock.advance(1);
    expect(
      await store.findOpen({ principal: "agent", tool: "files.delete", digest: "sha256:x" }),
    ).toBeUndefined();
    expect((await gate()).id).not.toBe(id);
  });

  test("[B-CLIENT-3] what allows its caller to act elsewhere waits for it however long, and is heard once", async () => {
    const { clock, store, gate, consumed } = await start();
    const ask = { isForOneHearer: true };
    const { id } = await consumed(ask);
    await store.settle(id, { status: "done", resultText: "{}" });
    clock.advance(30 * joinMs);
    expect((await gate(ask)).id).toBe(id);
    expect([await store.deliver(id), await store.deliver(id)]).toEqual([true, false]);
    expect((await gate(ask)).id).not.toBe(id);
  });

  test("a rejection is heard once", async () => {
    const { store, gate } = await start();
    const { id } = await gate();
    await store.reject(id, { by: "alice", reason: "no" });
    expect(await gate()).toMatchObject({ id, status: "rejected", reason: "no" });
    await store.deliver(id);
    expect(await gate()).toMatchObject({ status: "pending" });
  });
}

function boundCases(start: Start): void {
  test("[AX-11.3-5] one caller has twenty waiting, and others have theirs", async () => {
    const { clock, store, gate } = await start();
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
    const { gate } = await start({ limits: { waitingPerPrincipalMax: 1 } });
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
    const { gate } = await start({ limits });
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
    const { store, consumed } = await start({ limits: { resultCharsMax: 10 } });
    const { id } = await consumed();
    await store.settle(id, { status: "done", resultText: "x".repeat(11) });
    const gate = await store.find(id);
    expect(gate).toMatchObject({ status: "done", argumentsText: '{"path":"/tmp/x"}' });
    expect(gate?.resultText).toBeUndefined();
  });

  test("so many that are over are remembered, first those nobody has heard of", async () => {
    const { store, gate } = await start({ limits: { finishedMax: 3 } });
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
    const { store, gate } = await start({ limits: { finishedCharsMax: 100 } });
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
    const { store, gate } = await start();
    const { id } = await gate();
    const approval = { ...approvalOf(), proof: "x".repeat(65_537) };
    await expect(store.approve(id, approval)).rejects.toThrow(refused("bad_proof"));
    expect(await store.find(id)).toMatchObject({ status: "pending" });
  });
}
