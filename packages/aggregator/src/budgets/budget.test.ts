import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { createLogger, createManualClock, type ManualClock } from "@mcpx/host";
import { type Budget, type Capability, cautious } from "@mcpx/protocol";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { faultOf } from "../mcp/rpc-error.ts";
import { openTreeState } from "../testing/open-tree-state.ts";
import { scratch } from "../testing/scratch.ts";
import { type BudgetAccount, createBudgets } from "./budget.ts";
import { type BudgetStore, createSqliteBudgetStore } from "./store.ts";

const tool = (more: Partial<Capability> = {}): Capability => ({
  ...cautious,
  mutable: false,
  cost_class: "free",
  ...more,
});

const hourMs = 3_600_000;

async function start(options: Partial<Parameters<typeof createBudgets>[0]> = {}) {
  const clock = createManualClock();
  const store = createSqliteBudgetStore(openTreeState());
  const log = createLogger({ level: "silent" });
  const budgets = await createBudgets({ store, clock, log, ...options });
  const accountFor = (budget: Budget, id = "s1") => budgets.accountFor(id, budget);
  return { clock, store, log, budgets, accountFor };
}

function refusal(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return faultOf(error);
  }
  return undefined;
}

/** How many of so many calls go through. */
function passed(account: BudgetAccount, clock: ManualClock, count: number, capability = tool()): number {
  let went = 0;
  for (let i = 0; i < count; i += 1) {
    if (refusal(() => account.charge(capability, clock.monotonic())) === undefined) went += 1;
  }
  return went;
}

describe("a budget", () => {
  test("[AX-11.4-1] of calls in a minute slides with time, exactly", async () => {
    const { clock, accountFor } = await start();
    const account = accountFor({ max_calls_per_minute: 3 });
    expect(passed(account, clock, 1)).toBe(1);
    clock.advance(20_000);
    expect(passed(account, clock, 5)).toBe(2);
    clock.advance(39_999);
    expect(passed(account, clock, 1)).toBe(0);
    clock.advance(1);
    expect(passed(account, clock, 5)).toBe(1);
    clock.advance(19_999);
    expect(passed(account, clock, 1)).toBe(0);
    clock.advance(1);
    expect(passed(account, clock, 5)).toBe(2);
  });

  test("[AX-11.4-1] what is too much is told by its name, its numbers and its time", async () => {
    const { clock, accountFor } = await start();
    const account = accountFor({ max_calls_per_minute: 2 });
    passed(account, clock, 1);
    clock.advance(12_000.5);
    passed(account, clock, 1);
    expect(refusal(() => account.charge(tool(), clock.monotonic()))).toEqual({
      code: -32003,
      message: "budget_exceeded",
      data: {
        reason: "budget_exceeded",
        detail: "the budget max_calls_per_minute does not cover this call: 2 of 2 are used",
        suggestion: expect.any(String),
        budget: "max_calls_per_minute",
        limit: 2,
        used: 2,
        retry_after_ms: 48_000,
      },
    });
  });

  test("[AX-11.4-1] of a session names no time after which it would work", async () => {
    const { clock, accountFor } = await start();
    const account = accountFor({ max_mutable_calls_per_session: 1, max_calls_per_minute: 1 });
    const change = tool({ mutable: true });
    expect(passed(account, clock, 1, change)).toBe(1);
    const fault = refusal(() => account.charge(change, clock.monotonic()));
    expect(fault).toMatchObject({ data: { budget: "max_mutable_calls_per_session", limit: 1, used: 1 } });
    expect(fault).not.toHaveProperty("data.retry_after_ms");
  });

  test("[AX-11.4-1] of changes counts only tools that change something", async () => {
    const { clock, accountFor } = await start();
    const account = accountFor({ max_mutable_calls_per_session: 2 });
    expect(passed(account, clock, 10)).toBe(10);
    expect(passed(account, clock, 10, tool({ mutable: true }))).toBe(2);
    expect(passed(account, clock, 10)).toBe(10);
  });

  test("[AX-11.4-4] counts free 0, metered 1, expensive 10", async () => {
    const { clock, accountFor } = await start();
    const account = accountFor({ max_cost_units_per_session: 21 });
    expect(passed(account, clock, 5, tool({ cost_class: "expensive" }))).toBe(2);
    expect(passed(account, clock, 5, tool({ cost_class: "metered" }))).toBe(1);
    expect(passed(account, clock, 5, tool({ cost_class: "free" }))).toBe(5);
    expect(account.usage()).toEqual({ max_cost_units_per_session: { limit: 21, used: 21 } });
  });

  test("[AX-11.4-4] costs are the operator's to set, and none is negative", async () => {
    const { clock, accountFor } = await start({ costs: { metered: 7 } });
    const account = accountFor({ max_cost_units_per_session: 20 });
    expect(passed(account, clock, 5, tool({ cost_class: "metered" }))).toBe(2);
    expect(passed(account, clock, 5, tool({ cost_class: "expensive" }))).toBe(0);
    await expect(start({ costs: { free: -1 } })).rejects.toThrow("free");
    await expect(start({ costs: { free: Number.NaN } })).rejects.toThrow("free");
  });

  test("[AX-11.4-1] a call that one limit refuses takes nothing from the others", async () => {
    const { clock, accountFor } = await start();
    const budget = {
      max_calls_per_minute: 1,
      max_mutable_calls_per_session: 5,
      max_cost_units_per_session: 50,
    };
    const account = accountFor(budget);
    const call = tool({ mutable: true, cost_class: "expensive" });
    expect(passed(account, clock, 20, call)).toBe(1);
    expect(account.usage()).toEqual({
      max_calls_per_minute: { limit: 1, used: 1 },
      max_mutable_calls_per_session: { limit: 5, used: 1 },
      max_cost_units_per_session: { limit: 50, used: 10 },
    });
  });

  test("[AX-11.4-1] a limit of none, or one that is no number, lets nothing through", async () => {
    const { clock, accountFor } = await start();
    for (const limit of [0, Number.NaN]) {
      const call = tool({ mutable: true, cost_class: "metered" });
      expect(passed(accountFor({ max_calls_per_minute: limit }), clock, 3, call)).toBe(0);
      expect(passed(accountFor({ max_mutable_calls_per_session: limit }), clock, 3, call)).toBe(0);
      expect(passed(accountFor({ max_cost_units_per_session: limit }), clock, 3, call)).toBe(0);
    }
    const fault = refusal(() => accountFor({ max_calls_per_minute: 0 }).charge(tool(), 0));
    expect(fault).not.toHaveProperty("data.retry_after_ms");
  });

  test("[AX-11.4-1] of a thousand calls at once exactly so many go through as it allows", async () => {
    const { clock, accountFor } = await start();
    const account = accountFor({ max_calls_per_minute: 500, max_cost_units_per_session: 333 });
    const metered = tool({ cost_class: "metered" });
    const went = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) => {
        for (let turns = i % 3; turns > 0; turns -= 1) await turn();
        return refusal(() => account.charge(metered, clock.monotonic())) === undefined;
      }),
    );
    expect(went.filter(Boolean)).toHaveLength(333);
    expect(account.usage()).toEqual({
      max_calls_per_minute: { limit: 500, used: 333 },
      max_cost_units_per_session: { limit: 333, used: 333 },
    });
  });
});

describe("an account", () => {
  test("[AX-11.4-3] stays the subserver's, however often it registers", async () => {
    const { clock, accountFor } = await start();
    const budget = { max_calls_per_minute: 2, max_mutable_calls_per_session: 3 };
    const change = tool({ mutable: true });
    const first = accountFor(budget);
    expect(passed(first, clock, 5, change)).toBe(2);
    clock.advance(60_000);
    expect(passed(accountFor(budget), clock, 5, change)).toBe(1);
    expect(passed(first, clock, 1, change)).toBe(0);
    expect(passed(accountFor(budget, "s2"), clock, 5, change)).toBe(2);
  });

  test("[AX-11.4-3] another budget finds what was used before", async () => {
    const { clock, accountFor } = await start();
    const call = tool({ mutable: true, cost_class: "metered" });
    const before = accountFor({ max_calls_per_minute: 10 });
    expect(passed(before, clock, 6, call)).toBe(6);
    const narrow = accountFor({ max_calls_per_minute: 4, max_cost_units_per_session: 8 });
    expect(narrow.usage()).toEqual({
      max_calls_per_minute: { limit: 4, used: 6 },
      max_cost_units_per_session: { limit: 8, used: 6 },
    });
    expect(passed(narrow, clock, 1, call)).toBe(0);
    const wide = accountFor({ max_calls_per_minute: 9, max_mutable_calls_per_session: 8 });
    expect(passed(wide, clock, 9, call)).toBe(2);
    clock.advance(60_000);
    expect(passed(accountFor({ max_cost_units_per_session: 3 }), clock, 5)).toBe(5);
  });

  test("[AX-11.4-3] is forgotten after an hour of absence, and not while it is here", async () => {
    const { clock, budgets, accountFor } = await start();
    const account = accountFor({ max_mutable_calls_per_session: 1 });
    const change = tool({ mutable: true });
    expect(passed(account, clock, 2, change)).toBe(1);
    for (let i = 0; i < 48; i += 1) {
      clock.advance(hourMs - 1);
      if (i % 2 === 0) budgets.touch("s1");
      else expect(passed(account, clock, 1, change)).toBe(0);
    }
    clock.advance(hourMs);
    expect(account.usage()).toEqual({ max_mutable_calls_per_session: { limit: 1, used: 0 } });
    expect(passed(account, clock, 2, change)).toBe(1);
  });

  test("a time of absence can be given", async () => {
    const { clock, accountFor } = await start({ forgetMs: 5_000 });
    const account = accountFor({ max_mutable_calls_per_session: 1 });
    const change = tool({ mutable: true });
    passed(account, clock, 1, change);
    clock.advance(4_999);
    expect(passed(account, clock, 1, change)).toBe(0);
    clock.advance(5_000);
    expect(passed(account, clock, 1, change)).toBe(1);
  });
});

describe("what was used", () => {
  const budget = {
    max_calls_per_minute: 100,
    max_mutable_calls_per_session: 20,
    max_cost_units_per_session: 20,
  };
  const call = tool({ mutable: true, cost_class: "metered" });

  test("[AX-11.4-3] outlives the process, for as long as it counts", async () => {
    const dir = scratch();
    const clock = createManualClock();
    const open = async () => {
      const db = openTreeState(join(dir, "state.db"));
      const { budgets } = await start({ clock, store: createSqliteBudgetStore(db) });
      return {
        budgets,
        close: async () => {
          await budgets.close();
          db.close();
        },
      };
    };
    const first = await open();
    expect(passed(first.budgets.accountFor("s1", budget), clock, 7, call)).toBe(7);
    await first.close();
    clock.advance(59_000);
    const second = await open();
    expect(second.budgets.accountFor("s1", budget).usage()).toEqual({
      max_calls_per_minute: { limit: 100, used: 7 },
      max_mutable_calls_per_session: { limit: 20, used: 7 },
      max_cost_units_per_session: { limit: 20, used: 7 },
    });
    clock.advance(1_000);
    expect(second.budgets.accountFor("s1", budget).usage().max_calls_per_minute?.used).toBe(0);
    await second.close();
    clock.advance(hourMs);
    const third = await open();
    expect(third.budgets.accountFor("s1", budget).usage().max_cost_units_per_session?.used).toBe(0);
    await third.close();
  });

  test("[AX-11.4-3] survives a crash but for its last second", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { clock, store, accountFor } = await start();
    const written = vi.spyOn(store, "write");
    const account = accountFor(budget);
    for (let i = 0; i < 9; i += 1) {
      passed(account, clock, 1, call);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(written).toHaveBeenCalledTimes(0);
    await vi.advanceTimersByTimeAsync(100);
    expect(written).toHaveBeenCalledTimes(1);
    passed(account, clock, 1, call);
    const after = await start({ clock, store });
    expect(after.accountFor(budget).usage().max_mutable_calls_per_session?.used).toBe(9);
    expect(account.usage().max_mutable_calls_per_session?.used).toBe(10);
  });

  test("a wall clock that was set back between two processes makes nothing free", async () => {
    const first = await start();
    passed(first.accountFor(budget), first.clock, 5, call);
    await first.budgets.close();
    const clock = createManualClock(Date.UTC(2029, 11, 31));
    const second = await start({ clock, store: first.store });
    expect(second.accountFor(budget).usage().max_calls_per_minute?.used).toBe(5);
    clock.advance(60_000);
    expect(second.accountFor(budget).usage().max_calls_per_minute?.used).toBe(0);
    expect(second.accountFor(budget).usage().max_cost_units_per_session?.used).toBe(5);
  });

  test("that could not be written is tried again, and is not lost", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const memory = createSqliteBudgetStore(openTreeState());
    let isBroken = true;
    const store: BudgetStore = {
      all: memory.all,
      async write(...args) {
        if (isBroken) throw new Error("disk");
        await memory.write(...args);
      },
    };
    const lines: string[] = [];
    const log = createLogger({ level: "error", destination: { write: (line) => void lines.push(line) } });
    const { clock, accountFor } = await start({ store, log });
    passed(accountFor(budget), clock, 3, call);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(lines).toHaveLength(1);
    expect(await memory.all()).toEqual([]);
    isBroken = false;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(await memory.all()).toMatchObject([{ subserverId: "s1", mutableCalls: 3, costUnits: 3 }]);
  });

  test("while a write is under way is written by the next, one after the other", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const memory = createSqliteBudgetStore(openTreeState());
    const slow = Promise.withResolvers<void>();
    const written: number[] = [];
    const store: BudgetStore = {
      all: memory.all,
      async write(uses, forgotten) {
        written.push(...uses.map(({ mutableCalls }) => mutableCalls));
        if (written.length === 1) await slow.promise;
        await memory.write(uses, forgotten);
      },
    };
    const { clock, budgets, accountFor } = await start({ store });
    passed(accountFor(budget), clock, 3, call);
    await vi.advanceTimersByTimeAsync(1_000);
    passed(accountFor(budget), clock, 1, call);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(written, "control: the first is not finished").toEqual([3]);
    slow.resolve();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([3, 4]);
    await budgets.close();
    expect(await memory.all()).toMatchObject([{ mutableCalls: 4 }]);
  });

  test("by those who are gone leaves memory and store", async () => {
    const { clock, store, budgets } = await start();
    for (let i = 0; i < 100; i += 1) passed(budgets.accountFor(`s${i}`, budget), clock, 1, call);
    const writes: [number, number][] = [];
    const counting: BudgetStore = {
      all: store.all,
      async write(uses, forgotten) {
        writes.push([uses.length, forgotten.length]);
        await store.write(uses, forgotten);
      },
    };
    await budgets.close();
    expect(await store.all()).toHaveLength(100);
    clock.advance(hourMs);
    await (await start({ clock, store: counting })).budgets.close();
    expect(writes).toEqual([[0, 100]]);
    expect(await store.all()).toEqual([]);
  });

  test("being here is written now and then only", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { clock, store, budgets, accountFor } = await start();
    const written = vi.spyOn(store, "write");
    passed(accountFor(budget), clock, 1, call);
    for (let i = 0; i < 600; i += 1) {
      budgets.touch("s1");
      budgets.touch("nobody");
      clock.advance(1_000);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(written.mock.calls.length).toBeGreaterThanOrEqual(9);
    expect(written.mock.calls.length).toBeLessThanOrEqual(11);
  });
});
