// The tree of a server: its own servers, those that register with it, and the trees above that it registers with.
import {
  createBudgets,
  createCallMeter,
  createHttpEndpoint,
  createRegistrar,
  createTree,
  endOwnOf,
  type HttpEndpoint,
  type LocalRooms,
  openSignIns,
  type Registrar,
  type RunningTree,
  registerAtAll,
  type SignInState,
  type TreeStores,
} from "@mcpx/aggregator";
import type {
  Audit,
  ByteLedger,
  Clock,
  Identity,
  IssuerConfig,
  Logger,
  Metrics,
  SpanStarter,
  Turns,
} from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import { version } from "../framework/version.ts";
import type { TreeSettings } from "../settings/tree-settings.ts";
import type { Stores } from "../stores/stores.ts";
import { type OpenGates, openGates } from "./open-gates.ts";

export interface TreeParts {
  dataDir: string;
  stores: Pick<Stores, "tree" | "credentials" | "approvers">;
  identity: Identity;
  issuers: readonly IssuerConfig[];
  audit: Audit;
  metrics?: Metrics | undefined;
  tracer?: SpanStarter | undefined;
  clock: Clock;
  log: Logger;
  limits: Limits;
  ledger: ByteLedger;
  turns?: Turns | undefined;
  /** Whether clients sign in at this gateway itself. */
  isIssuer?: boolean | undefined;
  /** Where people reach us; known when the listener is. */
  url(): string;
  rooms: LocalRooms;
}

export interface OpenTree extends OpenGates {
  tree: RunningTree;
  endpoint: HttpEndpoint;
  registrar: Registrar;
  signIns: SignInState;
  stores: TreeStores;
}

/** What is opened is closed by `opened`, in the opposite order. */
export async function openTree(
  settings: TreeSettings,
  parts: TreeParts,
  opened: AsyncDisposableStack,
): Promise<OpenTree> {
  const { identity, issuers, audit, clock, log, limits, ledger } = parts;
  const { servers, profiles, segment, rootSegment, isPinned, graceMs, ax } = settings;
  const { tree: stores, approvers } = parts.stores;
  const rootSince = await stores.facts.rootSince(rootSegment, clock.now());
  const { gates, authority } = await openGates(
    settings.gates,
    { ...parts, stores, approvers, rootSegment, isAlone: true, isRevoked: identity.revocations.isRevoked },
    opened,
  );
  const signIns = await openSignIns({
    store: parts.stores.credentials,
    clock,
    log,
    audit,
    secret: identity.secret("sign-in"),
    base: () => settings.gates.url ?? parts.url(),
  });
  const tree = createTree({
    name: "mcpx",
    version,
    segment,
    hasParents: ax.parents.length > 0,
    rootSince,
    servers,
    profiles,
    clock,
    log,
    audit,
    meter: parts.metrics && createCallMeter(parts.metrics),
    tracer: parts.tracer,
    scanners: settings.scanners,
    pins: isPinned ? stores.pins : undefined,
    secret: identity.secret("tree"),
    graceMs,
    notifications: settings.notifications,
    limits,
    gates,
    signIns,
    turns: parts.turns,
    rooms: parts.rooms,
  });
  opened.defer(() => tree.close());
  opened.defer(identity.revocations.onRevoked((jti) => endOwnOf(tree.state, jti)));
  const budgets = await createBudgets({
    store: stores.budgets,
    clock,
    log,
    costs: settings.costUnits,
  });
  opened.defer(() => budgets.close());
  const { aggregatorId } = gates;
  const { ruleFor } = ax;
  const registrar = createRegistrar({
    aggregatorId,
    tree,
    identity,
    store: stores.registrations(clock),
    clock,
    log,
    audit,
    limits,
    ledger,
    budgets,
    ruleFor,
  });
  opened.defer(() => registrar.close());
  const { subtreeIds, subserverIds, refuse: onRefused, dropCircle: onCycle } = registrar;
  const parents = registerAtAll(ax.parents, {
    subserverId: aggregatorId,
    tree,
    subtreeIds,
    subserverIds,
    onRefused,
    onCycle,
    clock,
    log,
    limits,
  });
  registrar.onSubtree(parents.announce, parents.ids);
  tree.state.parents = parents.facts;
  opened.defer(() => parents.close());
  const endpoint = createHttpEndpoint({
    tree,
    identity,
    log,
    clock,
    limits,
    ledger,
    issuers,
    isIssuer: parts.isIssuer,
    profiles: tree.profiles,
  });
  return { tree, endpoint, registrar, gates, authority, signIns, stores };
}
