// What every store of gates does, whatever its rows are kept in: each verb is one transaction over them.
import { randomBytes } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { canonicalJson, errorTable } from "@mcpx/protocol";
import { checkCapacity, checkWish } from "./gate-capacity.ts";
import { approved, ended, isFinished, isUnsent, isWaiting, joined, rejected, settled } from "./gate-steps.ts";
import {
  defaultGateLimits,
  type Gate,
  type GateLimits,
  type GateStatus,
  type GateStore,
  type GateWish,
  type ListedGate,
  listMax,
  type PromisedGate,
  type SameCall,
} from "./gate-store.ts";
import { createGateTimes } from "./gate-times.ts";
import {
  decideAt,
  type GateRows,
  type GateStoreParts,
  isUnderWay,
  save,
  stepIf,
} from "./gate-transaction.ts";
import { holding } from "./hold-verbs.ts";

export interface GateStoreOptions {
  clock: Clock;
  limits?: Partial<GateLimits> | undefined;
  /** Unguessable texts, for ids and nonces. */
  newId?: (() => string) | undefined;
}

export function createGateVerbs(rows: GateRows, options: GateStoreOptions): GateStore {
  const { clock, newId = unguessable } = options;
  const limits = { ...defaultGateLimits, ...options.limits };
  const times = createGateTimes({ clock, joinMs: limits.joinMs });
  const parts: GateStoreParts = { rows, times, clock, limits, newId };
  return {
    ...deciding(parts),
    ...dispatching(parts),
    ...holding(parts),
    ...looking(parts),
    async open(wish, ttlMs, promised) {
      checkWish(wish, limits);
      return rows.atomically(() => {
        const known = joinable(parts, wish);
        if (known !== undefined) return { gate: join(parts, known, wish), isNew: false };
        for (const id of rows.prune(limits)) times.forget(id);
        checkCapacity(rows, times, limits, wish);
        return { gate: create(parts, wish, ttlMs, promised), isNew: true };
      });
    },
    async expire() {
      const over = rows.waiting().filter(times.isOver).slice(0, listMax);
      if (over.length === 0) return [];
      return rows.atomically(() =>
        over.flatMap(({ id }) => end(parts, id, (gate) => isWaiting(gate) && times.seen(gate))),
      );
    },
    async recover() {
      return rows.atomically(() => [
        ...endAll(parts, "consumed", (gate) => ended(gate, "indeterminate", clock.now())),
        ...endAll(parts, "approved", (gate) => neverSent(gate, clock.now())),
      ]);
    },
    async useProof(hash) {
      return rows.atomically(() => rows.addProof(hash));
    },
  };
}

/** Nor is it taken for an option where it stands on a command line. */
export function unguessable(): string {
  const id = randomBytes(24).toString("base64url");
  return id.startsWith("-") ? unguessable() : id;
}

function deciding(parts: GateStoreParts): Pick<GateStore, "approve" | "reject"> {
  const { clock } = parts;
  return {
    async approve(id, approval) {
      return decideAt(parts, id, approval.proofHash, (gate) => approved(gate, approval, clock.now()));
    },
    async reject(id, rejection) {
      return decideAt(parts, id, rejection.proofHash, (gate) => rejected(gate, rejection, clock.now()));
    },
  };
}

function dispatching(parts: GateStoreParts): Pick<GateStore, "consume" | "settle" | "deliver"> {
  const { clock, limits } = parts;
  return {
    async consume(id) {
      const isReleased = ({ status }: Gate) => status === "approved";
      return stepIf(parts, id, isReleased, (gate) => ({ ...gate, status: "consumed" }));
    },
    async settle(id, outcome) {
      return stepIf(parts, id, isUnderWay, (gate) =>
        settled(gate, outcome, clock.now(), limits.resultCharsMax),
      );
    },
    async deliver(id) {
      const isUnheard = (gate: Gate) => isFinished(gate) && !gate.isDelivered;
      // That it has expired is left for `expire` to write down and to tell.
      return stepIf(parts, id, isUnheard, (gate) => ({ ...gate, isDelivered: true }));
    },
  };
}

function looking(parts: GateStoreParts): Pick<GateStore, "find" | "findOpen" | "findLast" | "list"> {
  const { rows, times } = parts;
  return {
    async find(id) {
      const gate = rows.find(id);
      return gate && times.seen(gate);
    },
    async findOpen(wish) {
      return joinable(parts, wish);
    },
    async findLast(gate, principal) {
      return rows.newestDone(gate, principal);
    },
    async list({ status } = {}) {
      const listed = rows.list(status).map(times.seen);
      return status === undefined ? listed : listed.filter((gate) => gate.status === status);
    },
  };
}

/** Only the newest can be: an older one was not to be joined when the newest was made, and so it stays. */
function joinable({ rows, times }: GateStoreParts, wish: SameCall): Gate | undefined {
  const gate = rows.newest(wish.principal, wish.tool, wish.digest);
  if (gate === undefined || !times.isJoinable(gate)) return undefined;
  const seen = times.seen(gate);
  return isUnsent(seen) && !isSameServer(seen, wish) ? undefined : seen;
}

/** What was signed for another server would be refused; what has left for it is still this call. */
function isSameServer({ server }: Gate, wish: SameCall): boolean {
  return canonicalJson(server ?? null) === canonicalJson(wish.server ?? null);
}

function join(parts: GateStoreParts, gate: Gate, wish: GateWish): Gate {
  const next = joined(gate, wish);
  if (next !== gate) save(parts, next);
  return next;
}

function create(
  { rows, times, clock, newId }: GateStoreParts,
  wish: GateWish,
  ttlMs: number,
  promised: PromisedGate | undefined,
): Gate {
  const createdAt = Math.floor(clock.now());
  const gate: Gate = {
    ...wish,
    id: promised?.id ?? newId(),
    nonce: promised?.nonce ?? newId(),
    status: wish.isAllowed === true ? "approved" : "pending",
    approvals: [],
    createdAt,
    expiresAt: promised?.expiresAt ?? createdAt + Math.floor(ttlMs),
    isDelivered: false,
  };
  rows.insert(gate);
  times.start(gate);
  return gate;
}

/** A page at a time: what has ended is not in the next. */
function endAll(
  parts: GateStoreParts,
  status: GateStatus,
  change: (gate: Gate) => Gate | false,
): ListedGate[] {
  const all: ListedGate[] = [];
  for (;;) {
    const page = parts.rows.list(status).flatMap(({ id }) => end(parts, id, change));
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** Approved, and not marked as used: it has not left. One that waits for nobody is made when it is asked for again. */
function neverSent(gate: Gate, at: number): Gate | false {
  if (gate.isAllowed === true) return false;
  return { ...ended(gate, "refused", at), refusal: "never_sent", reason: errorTable.never_sent.message };
}

function end(parts: GateStoreParts, id: string, change: (gate: Gate) => Gate | false): ListedGate[] {
  const gate = parts.rows.find(id);
  const next = gate !== undefined && change(gate);
  if (!next) return [];
  save(parts, next);
  return [listedOf(next)];
}

function listedOf({ argumentsText: _arguments, resultText: _result, ...listed }: Gate): ListedGate {
  return listed;
}
