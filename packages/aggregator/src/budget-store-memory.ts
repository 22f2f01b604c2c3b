// Used budgets that end with the process.
import type { BudgetStore, StoredUse } from "./budget-store.ts";

export function createMemoryBudgetStore(): BudgetStore {
  const bySubserver = new Map<string, StoredUse>();
  return {
    all: () => [...bySubserver.values()].map((use) => ({ ...use })),
    write(uses, forgotten) {
      for (const use of uses) bySubserver.set(use.subserverId, { ...use });
      for (const id of forgotten) bySubserver.delete(id);
    },
  };
}
