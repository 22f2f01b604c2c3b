// What calls into one subserver, and calls by it, may use up: one account for each holder, which is a segment and its owner, whatever
// sessions and subserver ids it has. [AX-11.4-1]
import type { Clock, Logger } from "@mcpx/host";
import type { Budget, Capability } from "@mcpx/protocol";
import { createSaver } from "./saver.ts";
import type { BudgetStore } from "./store.ts";
import { storedUse, useOf } from "./stored.ts";
import { type BudgetUsage, type BudgetUse, type Charge, checkFits, take, usageOf } from "./use.ts";
import { CallWindow } from "./window.ts";

export interface BudgetAccount {
  /** Takes what the call costs, or throws `budget_exceeded` and takes nothing. */
  charge(capability: Readonly<Capability>, now: number): void;
  /** Throws `budget_exceeded` where `charge` would, and takes nothing. */
  check(capability: Readonly<Capability>, now: number): void;
  /** For `mcpax.status`: of each limit what is used now. */
  usage(): BudgetUsage;
}

/** What a call costs. [AX-11.4-4] */
type CostUnits = Record<Capability["cost_class"], number>;

/**
 * "Per session" means: since the subserver was last away for `forgetMs`. Connecting again, or registering again under
 * another session or `subserver_id`, therefore resets nothing; neither does another budget by configuration. [AX-11.4-3]
 *
 * What is used is kept in the store, at most a second later: a crash forgets the last second at most. While the process
 * lives, time is monotonic; only the time between two processes is taken from the wall clock.
 */
export interface Budgets {
  accountFor(holder: string, budget: Budget): BudgetAccount;
  /** It is here. To be said more often than every `forgetMs` of each that is registered, also where nobody calls it. */
  touch(holder: string): void;
  /** Writes what is not written yet; whatever comes later is not kept. */
  close(): Promise<void>;
}

interface BudgetsOptions {
  store: BudgetStore;
  clock: Clock;
  log: Logger;
  costs?: Partial<CostUnits> | undefined;
  forgetMs?: number | undefined;
}

const defaultCosts: CostUnits = { free: 0, metered: 1, expensive: 10 };
const forgetMsDefault = 3_600_000;
/** Being here is worth a write only so many times in `forgetMs`. */
const touchesMax = 60;

interface Account extends BudgetUse {
  /** Its `seenAt` when it was last written. */
  savedAt: number;
}

export async function createBudgets(options: BudgetsOptions): Promise<Budgets> {
  const { store, clock, log, forgetMs = forgetMsDefault } = options;
  const costs = costsOf(options.costs);
  const byHolder = new Map<string, Account>();
  const unsaved = new Set<string>();
  const forgotten = new Set<string>();
  const saver = createSaver(save, log);

  for (const stored of await store.all()) {
    const use = useOf(stored, clock);
    byHolder.set(stored.subserverId, { ...use, savedAt: use.seenAt });
  }
  // Those that were away for too long leave the store.
  saver.soon();

  /** Unless it was away for so long that nothing counts any more. */
  function find(holder: string, now: number): Account | undefined {
    const account = byHolder.get(holder);
    if (account === undefined || now - account.seenAt < forgetMs) return account;
    byHolder.delete(holder);
    forgotten.add(holder);
    saver.soon();
    return undefined;
  }

  function open(holder: string, now: number): Account {
    const savedAt = Number.NEGATIVE_INFINITY;
    const account = { mutableCalls: 0, costUnits: 0, calls: new CallWindow(), seenAt: now, savedAt };
    byHolder.set(holder, account);
    return account;
  }

  function saveSoon(holder: string): void {
    unsaved.add(holder);
    saver.soon();
  }

  function chargeOf({ mutable, cost_class }: Readonly<Capability>): Charge {
    return { isMutable: mutable, costUnits: costs[cost_class] };
  }

  function see(holder: string, account: Account, now: number): void {
    account.seenAt = now;
    if (now - account.savedAt >= forgetMs / touchesMax) saveSoon(holder);
  }

  function touch(holder: string): void {
    const now = clock.monotonic();
    const account = find(holder, now);
    if (account !== undefined) see(holder, account, now);
  }

  async function save(): Promise<void> {
    const now = clock.monotonic();
    for (const holder of byHolder.keys()) find(holder, now);
    const changed = [...unsaved].flatMap((holder) => {
      const account = byHolder.get(holder);
      return account === undefined ? [] : [{ holder, account }];
    });
    const uses = changed.map(({ holder, account }) => storedUse(holder, account, clock));
    const gone = [...forgotten].filter((holder) => !byHolder.has(holder));
    const seen = changed.map(({ account }) => account.seenAt);
    // What changes while this is written is for the next time.
    const taken = { unsaved: [...unsaved], forgotten: [...forgotten] };
    unsaved.clear();
    forgotten.clear();
    try {
      if (uses.length > 0 || gone.length > 0) await store.write(uses, gone);
    } catch (error) {
      for (const holder of taken.unsaved) unsaved.add(holder);
      for (const holder of taken.forgotten) forgotten.add(holder);
      throw error;
    }
    changed.forEach(({ account }, index) => {
      account.savedAt = seen[index] ?? account.savedAt;
    });
  }

  return {
    accountFor(holder, budget) {
      touch(holder);
      return {
        charge(capability, now) {
          const account = find(holder, now) ?? open(holder, now);
          see(holder, account, now);
          take(account, budget, chargeOf(capability), now);
          saveSoon(holder);
        },
        check(capability, now) {
          checkFits(find(holder, now) ?? open(holder, now), budget, chargeOf(capability), now);
        },
        usage() {
          const now = clock.monotonic();
          return usageOf(find(holder, now), budget, now);
        },
      };
    },
    touch,
    close: saver.close,
  };
}

function costsOf(given: Partial<CostUnits> = {}): CostUnits {
  const costs = { ...defaultCosts, ...given };
  for (const [name, units] of Object.entries(costs)) {
    if (!(Number.isFinite(units) && units >= 0)) throw new Error(`the cost of ${name} is ${units}`);
  }
  return costs;
}
