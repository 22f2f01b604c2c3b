// Wishes, approvals and stores for the tests of gates.
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

/** As many as are wanted at once, each begun before the first has got anywhere, and what each got. */
export const race = <T>(work: (i: number) => Promise<T>, times = 100): Promise<T[]> =>
  Promise.all(Array.from({ length: times }, (_, i) => work(i)));

/** Each call makes a place for gates; what it gives back opens it, for each gateway anew. */
export type OpenGateStores = () => (options: GateStoreOptions) => GateStore | Promise<GateStore>;

export type Start = (options?: Pick<GateStoreOptions, "limits">) => Promise<{
  clock: ReturnType<typeof createSettableClock>;
  store: GateStore;
  /** Another gateway on the same gates. */
  another(gatewayId?: string): Promise<GateStore>;
  /** A gate of its own. */
  gate(more?: Partial<GateWish>): Promise<Gate>;
  /** One that was released. */
  consumed(more?: Partial<GateWish>): Promise<Gate>;
}>;

export const firstGateway = "the first gateway";

export function starter(place: OpenGateStores): Start {
  return async (options = {}) => {
    const clock = createSettableClock();
    const open = place();
    const store = await open({ clock, gatewayId: firstGateway, ...options });
    const gate = async (more: Partial<GateWish> = {}) => (await store.open(wishOf(more), lifeMs)).gate;
    const consumed = async (more: Partial<GateWish> = {}) => {
      const { id } = await gate(more);
      await store.approve(id, approvalOf("alice", `proof for ${id}`));
      expect(await store.consume(id)).toBe(true);
      return gate(more);
    };
    const another = async (gatewayId?: string) => open({ clock, gatewayId, ...options });
    return { clock, store, another, gate, consumed };
  };
}
