// Everything an aggregator keeps of those who registered with it: state without methods. Verbs on it are in files of
// their own.
import { type Audit, type ByteLedger, type Clock, type Logger, type Principal, shareOf } from "@mcpx/host";
import {
  type AuthScope,
  type Budget,
  closingIdsKey,
  type JsonObject,
  type Limits,
  McpxError,
  type Registration,
  subtreeIdsMax,
} from "@mcpx/protocol";
import type { Budgets } from "../budgets/budget.ts";
import type { Tree } from "../mcp/tree.ts";
import type { FlowLimits } from "../notifications/notification-flow.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
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

/** Who is at the other end of a channel, as the endpoint found out. */
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
  /** Two registrants with the same text are the same one. */
  identity: string;
  isProven: boolean;
  /** Whose token or certificate it came with: what it takes is counted for that one. */
  registrant: string;
  scope: AuthScope;
  /** The operator has neither configured it nor marked it as trusted. [B-REG-1] */
  isGuest: boolean;
  equipment?: JsonObject | undefined;
}

/** A registered subserver, also while it is lost. */
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
  /** Of an aggregator: all that are registered below it. [AX-13.4-1] */
  subserverIds: ReadonlySet<string>;
  /** It is told in an answer which of those are refused. */
  isUpdating: boolean;
  /** Its channel is there and its lease has not ended. */
  isAlive: boolean;
  /** The session has ended and cannot come back. */
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
  readonly pending: Map<string, Pending>;
  /** By `subserver_id`: the segment it is about to get. */
  readonly arriving: Map<string, string>;
  readonly subserversMax: number;
  readonly subserversPerPrincipalMax: number;
  ruleFor(segment: string): SubserverRule;
  prove(registration: Registration, credential: Credential): Promise<Standing>;
  readonly budgets: Pick<Budgets, "accountFor" | "touch">;
  /** The tree, for those who have registered and call its tools themselves. */
  readonly calls: Pick<Tree, "handle" | "leave"> & Pick<Limits, "subserverCallsMax"> & { ledger: ByteLedger };
  /** Handles the end of the subserver's channel. */
  lose(subserver: Subserver, why: string): void;
  /** Ids of the trees above us, also while they cannot be reached. */
  parentIds(): ReadonlySet<string>;
  /**
   * Tells the parents what stands below; rejects with `registration_cycle` where one of them does. Resolves with the
   * ids below us that are refused there.
   */
  announceSubtree(): Promise<ReadonlySet<string>>;
}

interface Pending {
  subtreeIds: readonly string[];
  subserverIds: readonly string[];
  /** Of those, what a tree above has refused meanwhile. */
  refused: Set<string>;
}

export function nothingPending(): Pending {
  return { subtreeIds: [], subserverIds: [], refused: new Set() };
}

/**
 * Our own id and all below us, but for those below `except`. Of one whose session is over nothing counts: to be called
 * again it must register again, and is checked then. [AX-5.3-2]
 */
export function subtreeIdsOf(state: RegistrarState, except?: string): string[] {
  const { aggregatorId, bySegment, pending } = state;
  const counted = [...bySegment.values()].filter(
    ({ isOver, registration }) => !isOver && registration.segment !== except,
  );
  const below = counted.flatMap(({ subtreeIds }) => subtreeIds);
  return [
    ...new Set([aggregatorId, ...below, ...[...pending.values()].flatMap(({ subtreeIds }) => subtreeIds)]),
  ];
}

/**
 * Throws where one of the ids is our own, or that of a tree above us: a registrant below cannot have it, and if we
 * handed it on, the tree above would refuse us instead of the one that claims it. [AX-5.3-2]
 */
export function checkCycle(state: RegistrarState, ids: readonly string[]): void {
  const parents = state.parentIds();
  const closing = ids.filter((id) => id === state.aggregatorId || parents.has(id));
  const [first] = closing;
  if (first === undefined) return;
  const detail = closing.includes(state.aggregatorId)
    ? "this aggregator stands below the one that registers"
    : `${first} stands above this aggregator`;
  throw new McpxError("registration_cycle", detail, { data: { [closingIdsKey]: closing } });
}

/**
 * What stands below us must fit into one registration of our own, or the tree above would refuse all of it; and one
 * registrant brings no more than is left for others then. To be called in the same turn as the ids are put where
 * `subtreeIdsOf` finds them.
 */
export function checkSubtreeSize(state: RegistrarState, segment: string, ids: readonly string[]): void {
  const others = new Set(subtreeIdsOf(state, segment));
  const own = ids.filter((id) => !others.has(id)).length;
  const share = shareOf(subtreeIdsMax, others.size);
  if (own <= share) return;
  const detail = `${segment} brings ${own} aggregators; one registration may bring ${share} now`;
  throw new McpxError("too_many_subservers", detail);
}

/** After something has gone: nobody can refuse that. */
export function announceLess(state: RegistrarState): void {
  state.announceSubtree().catch((error: unknown) => {
    state.log.warn({ err: error }, "could not tell parents that subservers were removed");
  });
}

/** How long a proven claim outlives what it was made for. */
const provenKeepMs = 30 * 24 * 3_600_000;

export function keepMsOf({ tree }: RegistrarState, { isProven }: Standing): number {
  return isProven ? provenKeepMs : tree.graceMs;
}

/** Of one that has left, or was never here: its id is anybody's, the segment only where it was not proven. */
export async function giveBack(
  state: RegistrarState,
  { segment, subserverId }: Registration,
  standing: Standing,
): Promise<void> {
  if (standing.isProven) await state.store.leave(segment, keepMsOf(state, standing));
  else await state.store.release(segment, subserverId);
}

/** Whose budget it is: a new `subserver_id`, session or connection of the same owner does not begin a new one. */
export function budgetHolder({ segment }: Registration, { identity }: Standing): string {
  return `${segment} ${identity}`;
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
  work.catch((error: unknown) => log.error({ err: error }, "could not write the store of registrations"));
}
