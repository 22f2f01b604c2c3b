// What every store of gates does, whatever its rows are kept in: each verb is one transaction over them.
import { randomBytes } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { createDeadlines } from "./gate-deadlines.ts";
import { approved, ended, isFinished, isWaiting, rejected, settled, withdrawn } from "./gate-steps.ts";
import {
  defaultGateLimits,
  type Gate,
  type GateLimits,
  type GateStatus,
  type GateStore,
  type GateWish,
  type ListedGate,
} from "./gate-store.ts";

/** The same members for one principal, and for all. */
export interface GateLoad {
  count: number;
  chars: number;
}

export interface GateRows {
  /** All of the work or nothing of it, durable when it returns, and nobody else's in between. */
  atomically<T>(work: () => T): T;
  insert(gate: Gate): void;
  find(id: string): Gate | undefined;
  /** Status, approvals, result and the like: what the caller wants never changes. */
  update(gate: Gate): void;
  newest(principal: string, tool: string, digest: string): Gate | undefined;
  /** Newest first, a thousand at most. */
  list(status: GateStatus | undefined): ListedGate[];
  /** Those that wait, with the size of their arguments. */
  waiting(): Iterable<Pick<Gate, "id" | "principal" | "createdAt" | "expiresAt"> & { chars: number }>;
  waitingLoad(principal?: string): GateLoad;
  /** Forgets finished gates beyond these bounds, and says which. */
  prune(limits: Pick<GateLimits, "finishedMax" | "finishedCharsMax">): string[];
  /** False where it is there already. */
  addProof(hash: string): boolean;
}

export interface GateStoreOptions {
  clock: Clock;
  limits?: Partial<GateLimits> | undefined;
  /** Unguessable texts, for ids and nonces. */
  newId?: (() => string) | undefined;
}

const expiredAtOnceMax = 1_000;

export function createGateVerbs(rows: GateRows, options: GateStoreOptions): GateStore {
  const { clock, newId = () => randomBytes(24).toString("base64url") } = options;
  const limits = { ...defaultGateLimits, ...options.limits };
  const deadlines = createDeadlines(clock);

  const isOver = ({ id, createdAt, expiresAt }: Pick<Gate, "id" | "createdAt" | "expiresAt">) =>
    deadlines.isOver(id, createdAt, expiresAt);

  /** As it is at this moment. */
  const seen = <T extends ListedGate>(gate: T): T =>
    isWaiting(gate) && isOver(gate) ? ended(gate, "expired", gate.expiresAt) : gate;

  function step(id: string, change: (gate: Gate) => Gate): Gate {
    return rows.atomically(() => {
      const gate = rows.find(id);
      if (gate === undefined) throw new McpxError("confirmation_unknown");
      const next = change(seen(gate));
      rows.update(next);
      return next;
    });
  }

  /** Where it is as it should be, and only then. */
  function stepIf(id: string, isRight: (gate: Gate) => boolean, change: (gate: Gate) => Gate): boolean {
    return rows.atomically(() => {
      const gate = rows.find(id);
      if (gate === undefined || !isRight(seen(gate))) return false;
      rows.update(change(gate));
      return true;
    });
  }

  function spend(hash: string | undefined): void {
    if (hash !== undefined && !rows.addProof(hash)) {
      throw new McpxError("confirmation_used", "this proof was used before");
    }
  }

  function joinable(principal: string, tool: string, digest: string): Gate | undefined {
    // An older one was not to be joined when the newest was made, and so it stays.
    const newest = rows.newest(principal, tool, digest);
    const gate = newest && seen(newest);
    if (gate === undefined || gate.status === "withdrawn") return undefined;
    if (gate.settledAt === undefined) return gate;
    const until = gate.settledAt + limits.joinMs;
    return gate.isDelivered || deadlines.isOver(`${gate.id} join`, gate.settledAt, until) ? undefined : gate;
  }

  function forget(id: string): void {
    deadlines.forget(id);
    deadlines.forget(`${id} join`);
  }

  /** Rows that are over and not swept yet are counted only where it matters. */
  function liveLoad(principal: string | undefined): GateLoad {
    const live = [...rows.waiting()].filter(
      (gate) => (principal === undefined || gate.principal === principal) && !isOver(gate),
    );
    return { count: live.length, chars: live.reduce((sum, { chars }) => sum + chars, 0) };
  }

  function checkRoom({ principal, argumentsText }: GateWish): void {
    const isFull = ({ count, chars }: GateLoad, countMax: number, charsMax: number) =>
      count >= countMax || chars + argumentsText.length > charsMax;
    const { waitingPerPrincipalMax, waitingCharsPerPrincipalMax, waitingMax, waitingCharsMax } = limits;
    const bounds = [
      { whose: principal, countMax: waitingPerPrincipalMax, charsMax: waitingCharsPerPrincipalMax },
      { whose: undefined, countMax: waitingMax, charsMax: waitingCharsMax },
    ];
    for (const { whose, countMax, charsMax } of bounds) {
      if (!isFull(rows.waitingLoad(whose), countMax, charsMax)) continue;
      if (!isFull(liveLoad(whose), countMax, charsMax)) continue;
      throw new McpxError("too_many_gates", whose === undefined ? "of all callers" : "of this caller");
    }
  }

  function create(wish: GateWish, ttlMs: number): Gate {
    const createdAt = clock.now();
    const expiresAt = createdAt + ttlMs;
    const gate: Gate = {
      ...wish,
      id: newId(),
      nonce: newId(),
      status: "pending",
      approvals: [],
      createdAt,
      expiresAt,
      isDelivered: false,
    };
    rows.insert(gate);
    // Its time runs from now on, not from when somebody asks for it.
    isOver(gate);
    return gate;
  }

  return {
    async open(wish, ttlMs) {
      checkWish(wish, limits);
      return rows.atomically(() => {
        const joined = joinable(wish.principal, wish.tool, wish.digest);
        if (joined !== undefined) return { gate: joined, isNew: false };
        for (const id of rows.prune(limits)) forget(id);
        checkRoom(wish);
        return { gate: create(wish, ttlMs), isNew: true };
      });
    },
    async find(id) {
      const gate = rows.find(id);
      return gate && seen(gate);
    },
    async findOpen(principal, tool, digest) {
      return joinable(principal, tool, digest);
    },
    async approve(id, approval) {
      return step(id, (gate) => {
        const next = approved(gate, approval, clock.now());
        spend(approval.proofHash);
        return next;
      });
    },
    async reject(id, rejection) {
      return step(id, (gate) => {
        const next = rejected(gate, rejection, clock.now());
        spend(rejection.proofHash);
        return next;
      });
    },
    async withdraw(id) {
      return step(id, (gate) => withdrawn(gate, clock.now()));
    },
    async consume(id) {
      return stepIf(
        id,
        ({ status }) => status === "approved",
        (gate) => ({ ...gate, status: "consumed" }),
      );
    },
    async settle(id, outcome) {
      return stepIf(
        id,
        ({ status }) => status === "consumed",
        (gate) => settled(gate, outcome, clock.now(), limits.resultCharsMax),
      );
    },
    async deliver(id) {
      return stepIf(
        id,
        (gate) => isFinished(gate) && !gate.isDelivered,
        (gate) => ({ ...seen(gate), isDelivered: true }),
      );
    },
    async expire() {
      const over = [...rows.waiting()].filter(isOver).slice(0, expiredAtOnceMax);
      if (over.length === 0) return [];
      return rows.atomically(() => over.flatMap(({ id }) => end(id, isWaiting, "expired")));
    },
    async recover() {
      return rows.atomically(() => {
        const ended: ListedGate[] = [];
        // A page at a time: what has ended is not in the next.
        for (let page = rows.list("consumed"); page.length > 0; page = rows.list("consumed")) {
          ended.push(...page.flatMap(({ id }) => end(id, () => true, "indeterminate")));
        }
        return ended;
      });
    },
    async list({ status } = {}) {
      return rows.list(status).map(seen).filter((gate) => status === undefined || gate.status === status);
    },
    async useProof(hash) {
      return rows.atomically(() => rows.addProof(hash));
    },
  };

  function end(id: string, isRight: (gate: Gate) => boolean, status: GateStatus): ListedGate[] {
    const gate = rows.find(id);
    if (gate === undefined || !isRight(gate)) return [];
    const next = ended(gate, status, clock.now());
    rows.update(next);
    const { argumentsText: _arguments, resultText: _result, ...listed } = next;
    return [listed];
  }
}

function checkWish({ argumentsText }: GateWish, { argumentsCharsMax }: GateLimits): void {
  if (argumentsText.length > argumentsCharsMax) {
    throw new McpxError("too_large", `arguments of more than ${argumentsCharsMax} characters cannot wait`);
  }
  // Half a character would come back as another one.
  if (!argumentsText.isWellFormed()) throw new McpxError("bad_field", "the arguments are not valid Unicode");
}
