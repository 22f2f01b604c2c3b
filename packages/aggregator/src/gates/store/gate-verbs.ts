// What every store of gates does, whatever its rows are kept in: each verb reads, thinks, and
// writes where nobody was faster.
import { randomBytes } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { canonicalJson, errorTable } from "@mcpx/protocol";
import { checkCapacity, checkWish } from "./gate-capacity.ts";
import { again, decideAt, type GateStoreParts, isUnderWay, save, stepIf } from "./gate-change.ts";
import { type GateRows, type Kept, newVersion } from "./gate-rows.ts";
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
import { holding } from "./hold-verbs.ts";
import { createLateChanges } from "./late-changes.ts";

export interface GateStoreOptions {
  clock: Clock;
  limits?: Partial<GateLimits> | undefined;
  /** Unguessable texts, for ids and nonces. */
  newId?: (() => string) | undefined;
  /** Who changes gates here; each start of a gateway is another one. */
  gatewayId?: string | undefined;
}

export interface RootedGateStoreOptions extends GateStoreOptions {
  /** Of the tree. Rows have names without it: they stay right when the root gets a segment or another one. */
  rootSegment?: string | undefined;
}

export function createGateVerbs(rows: GateRows, options: GateStoreOptions): GateStore {
  const { clock, newId = unguessable } = options;
  const limits = { ...defaultGateLimits, ...options.limits };
  const times = createGateTimes({ clock, joinMs: limits.joinMs });
  const parts: GateStoreParts = { rows, times, clock, limits, newId, late: createLateChanges(rows) };
  return {
    ...opening(parts),
    ...deciding(parts),
    ...dispatching(parts),
    ...holding(parts),
    ...looking(parts),
    ...sweeping(parts),
    useProof: (hash) => rows.addProof(hash),
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
  const { clock, limits, late } = parts;
  const isReleased = ({ status }: Gate) => status === "approved";
  const consumed = (gate: Gate): Gate => ({ ...gate, status: "consumed" });
  return {
    consume: (id) => late.consume(id, (onSending) => stepIf(parts, id, isReleased, consumed, onSending)),
    async settle(id, outcome) {
      const after = (gate: Gate) => settled(gate, outcome, clock.now(), limits.resultCharsMax);
      return late.outcome(id, (onSending) => stepIf(parts, id, isUnderWay, after, onSending));
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
      const kept = await rows.find(id);
      return kept && times.seen(kept.gate);
    },
    async findOpen(wish) {
      return joinable(parts, (await rows.look(wish)).newest, wish)?.gate;
    },
    findLast: (gate, principal) => rows.newestDone(gate, principal),
    async list({ status } = {}) {
      const listed = (await rows.list(status)).map(times.seen);
      return status === undefined ? listed : listed.filter((gate) => gate.status === status);
    },
  };
}

/** Only the newest can be: an older one was not to be joined when the newest was made, and so it stays. */
function joinable({ times }: GateStoreParts, newest: Kept | undefined, wish: SameCall): Kept | undefined {
  if (newest === undefined || !times.isJoinable(newest.gate)) return undefined;
  const gate = times.seen(newest.gate);
  return isUnsent(gate) && !isSameServer(gate, wish) ? undefined : { ...newest, gate };
}

/** What was signed for another server would be refused; what has left for it is still this call. */
function isSameServer({ server }: Gate, wish: SameCall): boolean {
  return canonicalJson(server ?? null) === canonicalJson(wish.server ?? null);
}

function opening(parts: GateStoreParts): Pick<GateStore, "open"> {
  const { rows, limits } = parts;
  let turns: Promise<unknown> = Promise.resolve();
  return {
    async open(wish, ttlMs, promised) {
      checkWish(wish, limits);
      const attempt = async () => {
        const seen = await rows.look(wish);
        const known = joinable(parts, seen.newest, wish);
        if (known !== undefined) return join(parts, known, wish);
        await checkCapacity(parts, seen, wish);
        return create(parts, seen.turn, created(parts, wish, ttlMs, promised));
      };
      // One after the other in this process; another one may still be faster.
      const opened = turns.then(() => again(attempt));
      turns = opened.catch(() => {});
      return opened;
    },
  };
}

type Opened = Awaited<ReturnType<GateStore["open"]>>;

/** `undefined` where somebody has changed it meanwhile. */
async function join(parts: GateStoreParts, kept: Kept, wish: GateWish): Promise<Opened | undefined> {
  const gate = joined(kept.gate, wish);
  if (gate !== kept.gate && !(await save(parts, kept, gate))) return undefined;
  return { gate, isNew: false };
}

/** `undefined` where another gate was opened meanwhile. */
async function create(
  { rows, times, limits }: GateStoreParts,
  turn: number,
  gate: Gate,
): Promise<Opened | undefined> {
  const forgotten = await rows.insert(gate, turn, limits);
  if (forgotten === undefined) return undefined;
  for (const id of forgotten) times.forget(id);
  times.start(gate);
  return { gate, isNew: true };
}

function created(
  { clock, newId }: GateStoreParts,
  { isMade, ...wish }: GateWish,
  ttlMs: number,
  promised: PromisedGate | undefined,
): Gate {
  const createdAt = Math.floor(clock.now());
  return {
    ...wish,
    id: promised?.id ?? newId(),
    nonce: promised?.nonce ?? newId(),
    status: isMade === true ? "consumed" : wish.isAllowed === true ? "approved" : "pending",
    approvals: [],
    createdAt,
    expiresAt: promised?.expiresAt ?? createdAt + Math.floor(ttlMs),
    isDelivered: false,
  };
}

function sweeping(parts: GateStoreParts): Pick<GateStore, "expire" | "recover"> {
  const { rows, times, clock, late } = parts;
  const listed = async (ids: readonly string[]) => (await rows.findAll(ids)).map(({ gate }) => gate);
  return {
    async expire() {
      const undone: ListedGate[] = [];
      const settledIds = await late.sweep(async (kept) => {
        undone.push(...(await endAll(parts, [kept], (gate) => neverSent(gate, clock.now()))));
      });
      const over = (await rows.waiting()).filter(times.isOver).slice(0, listMax);
      if (over.length + settledIds.length === 0) return undone;
      const kept = over.length === 0 ? [] : await rows.findAll(over.map(({ id }) => id));
      const expired = await endAll(parts, kept, (gate) => isWaiting(gate) && times.seen(gate));
      return [...undone, ...(await listed(settledIds)), ...expired];
    },
    async recover(living = new Set()) {
      const lost = async (status: GateStatus, change: (gate: ListedGate) => ListedGate) => {
        const all: ListedGate[] = [];
        // A page at a time: what has ended is not in the next.
        for (;;) {
          const page = await endAll(parts, await rows.lost(status, [...living]), change);
          if (page.length === 0) return all;
          all.push(...page);
        }
      };
      return [
        ...(await lost("consumed", (gate) => ended(gate, "indeterminate", clock.now()))),
        ...(await lost("approved", (gate) => neverSent(gate, clock.now()))),
      ];
    },
  };
}

/** Approved, and not marked as used, or marked for nobody: it has not left. */
function neverSent<T extends ListedGate>(gate: T, at: number): T {
  return { ...ended(gate, "refused", at), refusal: "never_sent", reason: errorTable.never_sent.message };
}

/** Those that `change` ends, and nobody has changed meanwhile. */
async function endAll(
  { rows, times }: GateStoreParts,
  kept: readonly Kept<ListedGate>[],
  change: (gate: ListedGate) => ListedGate | false,
): Promise<ListedGate[]> {
  const changes = kept.flatMap(({ gate, version: from }) => {
    const next = change(gate);
    return next ? [{ gate: next, from, to: newVersion() }] : [];
  });
  if (changes.length === 0) return [];
  const became = await rows.end(changes);
  const after = changes.map(({ gate }) => gate).filter(({ id }) => became.has(id));
  for (const gate of after) times.start(gate);
  return after;
}
