// The tree of a server: its own servers, those that register with it, and the trees above that it registers with.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import {
  aggregatorId,
  aggregatorMigrations,
  createBudgets,
  createCallMeter,
  createFileCredentialStore,
  createHttpDoor,
  createRegistrar,
  createSqliteBudgetStore,
  createSqlitePinStore,
  createSqliteRegistrationStore,
  createTree,
  endOwnOf,
  type HttpDoor,
  type LocalRooms,
  openSignIns,
  type Registrar,
  type RunningTree,
  registerAtAll,
  rootSince,
  type SignInState,
} from "@mcpx/aggregator";
import {
  type Audit,
  type ByteLedger,
  type Clock,
  type Identity,
  type IssuerConfig,
  type Logger,
  type Metrics,
  openDatabase,
  type SpanStarter,
  type Turns,
} from "@mcpx/host";
import type { Limits } from "@mcpx/protocol";
import { version } from "../framework/version.ts";
import type { TreeSettings } from "../settings/tree-settings.ts";
import { type OpenGates, openGates } from "./open-gates.ts";

export interface TreeParts {
  dataDir: string;
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
  door: HttpDoor;
  registrar: Registrar;
  signIns: SignInState;
  db: DatabaseSync;
}

/** What is opened is closed by `opened`, in the opposite order. */
export async function openTree(
  settings: TreeSettings,
  parts: TreeParts,
  opened: AsyncDisposableStack,
): Promise<OpenTree> {
  const { identity, issuers, audit, clock, log, limits, ledger } = parts;
  const { servers, profiles, segment, rootSegment, isPinned, graceMs, ax } = settings;
  const open = (synchronous: "FULL" | "NORMAL") => {
    const path = join(parts.dataDir, "state.db");
    const db = openDatabase(path, { component: "aggregator", migrations: aggregatorMigrations, synchronous });
    opened.defer(() => db.close());
    return db;
  };
  const durable = open("FULL");
  // A thousand may register at once. What a power cut takes back is claimed, pinned and counted again.
  const db = open("NORMAL");
  const since = rootSince(durable, rootSegment, clock.now());
  const { gates, approvers, authority } = await openGates(
    settings.gates,
    { ...parts, db: durable, rootSegment, isAlone: true, isRevoked: identity.revocations.isRevoked },
    opened,
  );
  const signIns = await openSignIns({
    store: await createFileCredentialStore(join(parts.dataDir, "credentials")),
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
    rootSince: since,
    servers,
    profiles,
    clock,
    log,
    audit,
    meter: parts.metrics && createCallMeter(parts.metrics),
    tracer: parts.tracer,
    pins: isPinned ? createSqlitePinStore(db) : undefined,
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
    store: createSqliteBudgetStore(db),
    clock,
    log,
    costs: settings.costUnits,
  });
  opened.defer(() => budgets.close());
  const id = aggregatorId(db);
  const store = createSqliteRegistrationStore({ db, clock });
  const { ruleFor } = ax;
  const registrar = createRegistrar({
    aggregatorId: id,
    tree,
    identity,
    store,
    clock,
    log,
    audit,
    limits,
    ledger,
    budgets,
    ruleFor,
  });
  opened.defer(() => registrar.close());
  const { subtreeIds, subserverIds, refuse: onRefused } = registrar;
  const parents = registerAtAll(ax.parents, {
    subserverId: id,
    tree,
    subtreeIds,
    subserverIds,
    onRefused,
    clock,
    log,
    limits,
  });
  registrar.onSubtree(parents.announce, parents.ids);
  tree.state.parents = parents.facts;
  opened.defer(() => parents.close());
  const door = createHttpDoor({
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
  return { tree, door, registrar, gates, approvers, authority, signIns, db: durable };
}
