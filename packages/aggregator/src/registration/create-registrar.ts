// The aggregator's side of registration in one piece: endpoints, verbs, and the clock that watches over all of them.
import {
  type Audit,
  type ByteLedger,
  type Clock,
  createByteLedger,
  type Identity,
  type Logger,
  type Route,
  type UpgradeHandler,
} from "@mcpx/host";
import { type Limits, subserverIdsMax } from "@mcpx/protocol";
import type { RunningTree } from "../tree/create-tree.ts";
import { createAxHttp } from "./ax-http.ts";
import { createAxLocal, type EnterLocally } from "./ax-local.ts";
import { createAxSocket } from "./ax-socket.ts";
import { createAxVisits } from "./ax-visits.ts";
import { dropCircle } from "./drop-circle.ts";
import { lose, sweep } from "./lose.ts";
import { prove } from "./prove.ts";
import {
  budgetHolder,
  keepMsOf,
  type RegistrarState,
  type SubserverRule,
  settle,
  subtreeIdsOf,
} from "./registrar.ts";
import type { RegistrationStore } from "./registration-store.ts";
import { payerOf } from "./serve-calls.ts";
import { dropRefused, subserverIdsOf } from "./subserver-ids.ts";

export interface RegistrarOptions {
  aggregatorId: string;
  tree: Pick<RunningTree, "state" | "handle" | "leave">;
  identity: Pick<Identity, "tokens" | "revocations" | "verifyAuthorityProof">;
  store: RegistrationStore;
  clock: Clock;
  log: Logger;
  audit?: Audit | undefined;
  limits: Limits;
  /** What is held for principals, at all endpoints together; here alone unless given. */
  ledger?: ByteLedger | undefined;
  ruleFor(segment: string): SubserverRule;
  budgets: RegistrarState["budgets"];
  subserversMax?: number | undefined;
  /** How often heartbeats are looked at. */
  pulseMs?: number | undefined;
}

export interface Registrar {
  readonly state: RegistrarState;
  readonly routes: Route[];
  readonly upgrade: UpgradeHandler;
  /** The same for registrants in this process. */
  readonly enter: EnterLocally;
  /** Our own id and all below us. */
  subtreeIds(): readonly string[];
  /** The `subserver_id`s of all subservers below this tree. */
  subserverIds(): readonly string[];
  /** A tree above knows these from elsewhere. */
  refuse(subserverIds: readonly string[]): void;
  /** A tree above stands below us too, by these ids. */
  dropCircle(closingIds: readonly string[]): void;
  /** How the parents are told what stands below; they may refuse it. */
  onSubtree(announce: RegistrarState["announceSubtree"], parentIds: RegistrarState["parentIds"]): void;
  close(): void;
}

const subserversMaxDefault = 5_000;
const pulseMsDefault = 50;
const presenceMs = 60_000;

export function createRegistrar(options: RegistrarOptions): Registrar {
  const { tree, identity, store, clock, limits, ruleFor } = options;
  let announce: RegistrarState["announceSubtree"] = async () => new Set();
  let parentIds: RegistrarState["parentIds"] = () => new Set();
  let isClosed = false;
  const state: RegistrarState = {
    aggregatorId: options.aggregatorId,
    tree: tree.state,
    store,
    clock,
    log: options.log,
    audit: options.audit,
    bySegment: new Map(),
    pending: new Map(),
    arriving: new Map(),
    subserversMax: options.subserversMax ?? subserversMaxDefault,
    subserversPerPrincipalMax: limits.subserversPerPrincipalMax,
    ruleFor,
    prove: (registration, credential) =>
      prove(options, registration, credential, ruleFor(registration.segment)),
    budgets: options.budgets,
    calls: {
      handle: tree.handle,
      leave: tree.leave,
      subserverCallsMax: limits.subserverCallsMax,
      ledger: options.ledger ?? createByteLedger(limits),
    },
    lose: (subserver, why) => {
      if (!isClosed) lose(state, subserver, why);
    },
    parentIds: () => parentIds(),
    announceSubtree: async () => {
      const refused = await announce();
      dropRefused(state, refused);
      return refused;
    },
  };
  tree.state.payerOf = (callerKey) => payerOf(state, callerKey);
  const visits = createAxVisits(state, identity);
  const timer = setInterval(() => {
    sweep(state);
    visits.sweep(clock.now());
  }, options.pulseMs ?? pulseMsDefault).unref();
  const presence = setInterval(() => touchAll(state), Math.min(presenceMs, tree.state.graceMs / 3)).unref();
  const stopHearing = identity.revocations.onRevoked((jti) => visits.revoke(jti));
  return {
    state,
    routes: createAxHttp(visits, limits),
    upgrade: createAxSocket(visits, limits),
    enter: createAxLocal(visits, limits),
    subtreeIds: () => subtreeIdsOf(state),
    subserverIds: () => [...subserverIdsOf(state)].slice(0, subserverIdsMax),
    refuse: (ids) => dropRefused(state, new Set(ids)),
    dropCircle: (ids) => dropCircle(state, new Set(ids)),
    onSubtree(next, ids) {
      announce = next;
      parentIds = ids;
    },
    close() {
      // What ends from now on has not been lost.
      isClosed = true;
      clearInterval(timer);
      clearInterval(presence);
      stopHearing();
      visits.closeAll();
    },
  };
}

/** Registered subservers keep their segments and the sessions of their budgets. */
function touchAll(state: RegistrarState): void {
  const { bySegment, budgets, store } = state;
  for (const { isAlive, registration, standing } of bySegment.values()) {
    if (!isAlive) continue;
    budgets.touch(budgetHolder(registration, standing));
    settle(state, store.touch(registration.segment, keepMsOf(state, standing)));
  }
}
