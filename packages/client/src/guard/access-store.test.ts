import { describe, expect, test } from "vitest";
import type { AccessStore } from "./access-store.ts";
import { accessStoreCases } from "./access-store-cases.ts";
import { createMemoryAccessStore } from "./access-store-memory.ts";

describe("a guard's store in memory", () => {
  for (const { name, run } of accessStoreCases) {
    test(name, () => run({ open: async (bounds) => createMemoryAccessStore(bounds) }));
  }
});

describe("the control: a store that looks first and writes later", () => {
  /** Each by itself is right; at one time they are not. */
  function createHastyStore(): AccessStore {
    const store = createMemoryAccessStore();
    const used = new Map<string, number>();
    return {
      ...store,
      async spend({ nonce, capabilities }) {
        const [{ id, maxUses = Number.POSITIVE_INFINITY } = { id: "" }] = capabilities;
        const before = used.get(id) ?? 0;
        const isUsed = used.has(nonce);
        await Promise.resolve();
        if (isUsed) return "replayed";
        if (before >= maxUses) return "uses_exhausted";
        used.set(nonce, 1).set(id, before + 1);
        return "spent";
      },
    };
  }

  for (const { name, run } of accessStoreCases.filter((one) => /hundred/.test(one.name))) {
    test(`does not pass: ${name}`, async () => {
      await expect(run({ open: async () => createHastyStore() })).rejects.toThrow(/expected/);
    });
  }
});
