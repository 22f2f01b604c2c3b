// Everything an aggregator keeps of those who registered with it: state without methods. Verbs on it are in files of
// their own.
import type { Audit, Clock, Logger, Principal } from "@mcpx/host";
import type { AuthScope, Budget, JsonObject, Registration } from "@mcpx/protocol";
import type { Budgets } from "../budget.ts";
import type { FlowLimits } from "../notification-flow.ts";
import type { Server } from "../server.ts";
import type { TreeState } from "../tree-state.ts";
import type { Channel } from "./channel.ts";
import type { RegistrationStore } from "./registration-store.ts";

/** What the operator has set for a segment. */
export interface SubserverRule {
  scope?: AuthScope | undefined;
  /** Only this DNS name may have it. */
  authority?: string | undefined;
  /** Any valid token registers here, without proof. [AX-4.2-3] */
  isDevelopment?: boolean | undefined;
  /** Its instructions and bare URIs are shown, and its annotations count, as those of a configured server. */
  isTrusted?: boolean | undefined;
  budget?: Budget | undefined;
  /** How much of what it says unasked is passed on. */
  notifications?: Partial<FlowLimits> | undefined;
}

/** Who is at the other end of a channel, as the door found out. */
export interface Credential {
  principal: Principal | undefined;
  /** DNS names of a client certificate. */
  certificateNames: readonly string[];
  /** It is of this process: a device that the operator has configured. */
  isLocal?: boolean | undefined;
  /** What stands behind it, as this process knows it: a device on its line. */
  equipment?: JsonObject | undefined;
}

/** Who somebody is for the tree, and what that allows. */
export interface Standing {
  /** The same text is the same one. */
  identity: string;
  isProven: boolean;
  scope: AuthScope;
  /** The operator has neither configured it nor marked it as trusted. [B-REG-1] */
  isGuest: boolean;
  equipment?: JsonObject | undefined;
}

/** One that registered, also while it is lost. */
export interface Subserver {
  readonly registration: Registration;
  readonly standing: Standing;
  readonly sessionId: string;
  readonly epoch: number;
  readonly server: Server;
  readonly channel: Channel;
  readonly registeredAt: number;
  /** Monotonic ms. */
  heardAt: number;
  subtreeIds: readonly string[];
  /** Its channel is there and its lease has not ended. */
  isAlive: boolean;
  /** Its session cannot be saved any more. */
  isOver: boolean;
}

export interface RegistrarState {
  readonly aggregatorId: string;
  readonly tree: TreeState;
  readonly store: RegistrationStore;
  readonly clock: Clock;
  readonly log: Logger;
  readonly audit: Audit | undefined;
  readonly bySegment: Map<string, Subserver>;
  /** Segments somebody is about to get, with what would come to stand below. */
  readonly pending: Map<string, readonly string[]>;
  readonly subserversMax: number;
  ruleFor(segment: string): SubserverRule;
  prove(registration: Registration, credential: Credential): Promise<Standing>;
  readonly budgets: Pick<Budgets, "accountFor" | "touch">;
  /** Its channel has ended. */
  lose(subserver: Subserver, why: string): void;
  /** Tells those above us what stands below; rejects with `registration_cycle` where one of them does. */
  announceSubtree(): Promise<void>;
}

/** Our own id and all below us. [AX-5.3-2] */
export function subtreeIdsOf({ aggregatorId, bySegment, pending }: RegistrarState): string[] {
  const below = [...bySegment.values()].flatMap(({ subtreeIds }) => subtreeIds);
  return [...new Set([aggregatorId, ...below, ...[...pending.values()].flat()])];
}

/** After something has gone: nobody can refuse that. */
export function announceLess(state: RegistrarState): void {
  state.announceSubtree().catch((error: unknown) => {
    state.log.warn({ err: error }, "those above could not be told of a smaller subtree");
  });
}

/** How long a proven claim outlives what it was made for. */
const provenKeepMs = 30 * 24 * 3_600_000;

export function keepMsOf({ tree }: RegistrarState, { isProven }: Standing): number {
  return isProven ? provenKeepMs : tree.graceMs;
}

/** Whether it is the same one that speaks again. */
export function isSameCredential(one: Credential, other: Credential): boolean {
  return (
    one.principal?.id === other.principal?.id &&
    one.principal?.issuer === other.principal?.issuer &&
    one.principal?.segment === other.principal?.segment &&
    one.certificateNames.join() === other.certificateNames.join()
  );
}

/** What the store could not keep is told to the operator; the tree itself goes on. */
export function settle({ log }: RegistrarState, work: Promise<unknown>): void {
  work.catch((error: unknown) => log.error({ err: error }, "the store of registrations failed"));
}
