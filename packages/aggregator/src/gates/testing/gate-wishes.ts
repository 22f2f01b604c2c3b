// Wishes, approvals and stores for the tests of gates.
import { setImmediate as turn } from "node:timers/promises";
import { cautious } from "@mcpx/protocol";
import { expect } from "vitest";
import { createSettableClock } from "../../registration/registration-store-cases.ts";
import type { ApprovalGiven, Gate, GateStore, GateWish } from "../store/gate-store.ts";
import type { GateStoreOptions } from "../store/gate-verbs.ts";

export const wishOf = (more: Partial<GateWish> = {}): GateWish => ({
  principal: "agent",
  session: "s1",
  keys: ["key of the agent"],
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
export const joinMs = 600_000;

/** As many as are wanted at once, and what each got. */
export const race = <T>(work: (i: number) => Promise<T>, times = 100): Promise<T[]> =>
  Promise.all(
    Array.from({ length: times }, async (_, i) => {
      await turn();
      return work(i);
    }),
  );

export type Start = (options?: Pick<GateStoreOptions, "limits">) => {
  clock: ReturnType<typeof createSettableClock>;
  store: GateStore;
  /** A gate of its own. */
  gate(more?: Partial<GateWish>): Promise<Gate>;
  /** One that was released. */
  consumed(more?: Partial<GateWish>): Promise<Gate>;
};

export function starter(open: (options: GateStoreOptions) => GateStore): Start {
  return (options = {}) => {
    const clock = createSettableClock();
    const store = open({ clock, ...options });
    const gate = async (more: Partial<GateWish> = {}) => (await store.open(wishOf(more), lifeMs)).gate;
    const consumed = async (more: Partial<GateWish> = {}) => {
      const { id } = await gate(more);
      await store.approve(id, approvalOf("alice", `proof for ${id}`));
      expect(await store.consume(id)).toBe(true);
      return gate(more);
    };
    return { clock, store, gate, consumed };
  };
}
