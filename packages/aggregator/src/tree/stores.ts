// What a tree keeps beyond its process, as its owner opens it: one of the siblings.
import type { Clock } from "@mcpx/host";
import type { BudgetStore } from "../budgets/store.ts";
import type { PinStore } from "../catalogue/pin-store.ts";
import type { ChainStore } from "../gates/chain/chain-store.ts";
import type { GateStore } from "../gates/store/gate-store.ts";
import type { RootedGateStoreOptions } from "../gates/store/gate-verbs.ts";
import type { RegistrationStore } from "../registration/registration-store.ts";
import type { KeptFacts } from "./facts.ts";

export interface TreeStores {
  readonly facts: KeptFacts;
  readonly chain: ChainStore;
  readonly pins: PinStore;
  readonly budgets: BudgetStore;
  gates(options: RootedGateStoreOptions): GateStore;
  registrations(clock: Clock): RegistrationStore;
}
