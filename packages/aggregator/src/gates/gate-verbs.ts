// What every store of gates does, whatever its rows are kept in: each verb is one transaction over them.
import { randomBytes } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { checkRoom, checkWish } from "./gate-room.ts";
import type { GateRows } from "./gate-rows.ts";
import {
  approved,
  ended,
  isFinished,
  isWaiting,
  joined,
  rejected,
  settled,
  withdrawn,
} from "./gate-steps.ts";
import {
  defaultGateLimits,
  type Gate,
  type GateLimits,
  type GateStore,
  type GateWish,
  type ListedGate,
  listMax,
} from "./gate-store.ts";
import { createGateTimes, type GateTimes } from "./gate-times.ts";

export interface GateStoreOptions {
  clock: Clock;
  limits?: Partial<GateLimits> | undefined;
  /** Unguessable texts, for ids and nonces. */
  newId?: (() => string) | undefined;
}

interface Desk {
  rows: GateRows;
  times: GateTimes;
  clock: Clock;
  limits: GateLimits;
  newId: () => string;
}

export function createGateVerbs(rows: GateRows, options: GateStoreOptions): GateStore {
  const { clock, newId = unguessable } = options;
  const limits = { ...defaultGateLimits, ...options.limits };
  const times = createGateTimes({ clock, joinMs: limits.joinMs });
  const desk: Desk = { rows, times, clock, limits, newId };
  return {
    ...deciding(desk),
    ...dispatching(desk),
    ...looking(desk),
    async open(wish, ttlMs) {
      checkWish(wish, limits);
      return rows.atomically(() => {
        const known = joinable(desk, wish.principal, wish.tool, wish.digest);
        if (known !== undefined) return { gate: join(desk, known, wish), isNew: false };
        for (const id of rows.prune(limits)) times.forget(id);
        checkRoom(rows, times, limits, wish);
        return { gate: create(desk, wish, ttlMs), isNew: true };
      });
    },
    async expire() {
      const over = rows.waiting().filter(times.isOver).slice(0, listMax);
      if (over.length === 0) return [];
      return rows.atomically(() =>
        over.flatMap(({ id }) => end(desk, id, (gate) => isWaiting(gate) && times.seen(gate))),
      );
    },
    async recover() {
      return rows.atomically(() => {
        const lost: ListedGate[] = [];
        // A page at a time: what has ended is not in the next.
        for (let page = rows.list("consumed"); page.length > 0; page = rows.list("consumed")) {
          for (const { id } of page) {
            lost.push(...end(desk, id, (gate) => ended(gate, "indeterminate", clock.now())));
          }
        }
        return lost;
      });
    },
    async useProof(hash) {
      return rows.atomically(() => rows.addProof(hash));
    },
  };
}

/** Nor is it taken for an option where it stands on a command line. */
function unguessable(): string {
  const id = randomBytes(24).toString("base64url");
  return id.startsWith("-") ? unguessable() : id;
}

function deciding(desk: Desk): Pick<GateStore, "approve" | "reject" | "withdraw"> {
  const { rows, clock } = desk;
  const spend = (hash: string | undefined) => {
    if (hash !== undefined && !rows.addProof(hash)) {
      throw new McpxError("confirmation_used", "this proof was used before");
    }
  };
  const decide = (id: string, hash: string | undefined, change: (gate: Gate) => Gate) =>
    rows.atomically(() => {
      const gate = rows.find(id);
      if (gate === undefined) throw new McpxError("confirmation_unknown");
      const next = change(desk.times.seen(gate));
      spend(hash);
      save(desk, next);
      return next;
    });
  return {
    async approve(id, approval) {
      return decide(id, approval.proofHash, (gate) => approved(gate, approval, clock.now()));
    },
    async reject(id, rejection) {
      return decide(id, rejection.proofHash, (gate) => rejected(gate, rejection, clock.now()));
    },
    async withdraw(id) {
      return decide(id, undefined, (gate) => withdrawn(gate, clock.now()));
    },
  };
}

function dispatching(desk: Desk): Pick<GateStore, "consume" | "settle" | "deliver"> {
  const { rows, times, clock, limits } = desk;
  /** Only where it is as it should be, which exactly one of many can find. */
  const stepIf = (id: string, isRight: (seen: Gate) => boolean, change: (gate: Gate) => Gate) =>
    rows.atomically(() => {
      const gate = rows.find(id);
      if (gate === undefined || !isRight(times.seen(gate))) return false;
      save(desk, change(gate));
      return true;
    });
  return {
    async consume(id) {
      const isReleased = ({ status }: Gate) => status === "approved";
      return stepIf(id, isReleased, (gate) => ({ ...gate, status: "consumed" }));
    },
    async settle(id, outcome) {
      const isUnderWay = ({ status }: Gate) => status === "consumed";
      return stepIf(id, isUnderWay, (gate) => settled(gate, outcome, clock.now(), limits.resultCharsMax));
    },
    async deliver(id) {
      const isUnheard = (gate: Gate) => isFinished(gate) && !gate.isDelivered;
      // That it has expired is left for `expire` to write down and to tell.
      return stepIf(id, isUnheard, (gate) => ({ ...gate, isDelivered: true }));
    },
  };
}

function looking(desk: Desk): Pick<GateStore, "find" | "findOpen" | "list"> {
  const { rows, times } = desk;
  return {
    async find(id) {
      const gate = rows.find(id);
      return gate && times.seen(gate);
    },
    async findOpen(principal, tool, digest) {
      return joinable(desk, principal, tool, digest);
    },
    async list({ status } = {}) {
      const listed = rows.list(status).map(times.seen);
      return status === undefined ? listed : listed.filter((gate) => gate.status === status);
    },
  };
}

/** Only the newest can be: an older one was not to be joined when the newest was made, and so it stays. */
function joinable({ rows, times }: Desk, principal: string, tool: string, digest: string): Gate | undefined {
  const gate = rows.newest(principal, tool, digest);
  return gate !== undefined && times.isJoinable(gate) ? times.seen(gate) : undefined;
}

function join(desk: Desk, gate: Gate, { keys }: GateWish): Gate {
  const next = joined(gate, keys);
  if (next !== gate) save(desk, next);
  return next;
}

function create({ rows, times, clock, newId }: Desk, wish: GateWish, ttlMs: number): Gate {
  const createdAt = Math.floor(clock.now());
  const gate: Gate = {
    ...wish,
    id: newId(),
    nonce: newId(),
    status: "pending",
    approvals: [],
    createdAt,
    expiresAt: createdAt + Math.floor(ttlMs),
    isDelivered: false,
  };
  rows.insert(gate);
  times.start(gate);
  return gate;
}

function save({ rows, times }: Desk, gate: Gate): void {
  rows.update(gate);
  times.start(gate);
}

function end(desk: Desk, id: string, change: (gate: Gate) => Gate | false): ListedGate[] {
  const gate = desk.rows.find(id);
  const next = gate !== undefined && change(gate);
  if (!next) return [];
  save(desk, next);
  return [listedOf(next)];
}

export function listedOf({ argumentsText: _arguments, resultText: _result, ...listed }: Gate): ListedGate {
  return listed;
}
