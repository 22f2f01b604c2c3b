// What the tree keeps for its gates: state without methods. Verbs on it are in files of their own.
import { confirmationOf, type JsonObject } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { askerOf } from "../mcp/asker.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { Server } from "../servers/server.ts";
import type { TreeState } from "../servers/tree-state.ts";
import type { Grants } from "./grants/grants.ts";
import type { AnchorKey } from "./proofs/anchors.ts";
import type { Rule } from "./rules.ts";
import type { CallOutcome, Gate, GateStore, GateWish, PromisedGate } from "./store/gate-store.ts";

/** Who shows gates to people elsewhere: a room, a chat. */
export interface GateWatcher {
  opened?(gate: Gate): void;
  /** Decided, under way, expired, done, or held: its result waits for a decision now. */
  changed?(gate: Gate): void;
}

/** Whose signatures count, where that changes while the gateway runs. */
export interface AnchorSource {
  /** The approvers as they were at the last look. */
  known(): readonly AnchorKey[];
  /** Looks at the store now. Rejects where it cannot be read. */
  now(): Promise<readonly AnchorKey[]>;
}

export interface GateOptions {
  aggregatorId: string;
  store: GateStore;
  rules: readonly Rule[];
  unannotated: "ask" | "allow";
  /** How many must approve where no rule says so; one unless given. */
  quorum?: number | undefined;
  /** Asked anew for every proof: approvers come and go. */
  anchors: readonly AnchorKey[] | AnchorSource;
  /** Whether a token was revoked; none is where nobody can tell. */
  isRevoked?: ((jti: string) => boolean) | undefined;
  /** Everything is asked for, from the start. */
  isPanic?: boolean | undefined;
  /** Unconfirmed calls end after this; 300 s unless given. [AX-11.3-1] */
  ttlMs?: number | undefined;
  /** How long a call is held before it is answered with what it waits for. */
  holdMs?: number | undefined;
  /** The same where the client can be told that it goes on. */
  holdWithProgressMs?: number | undefined;
  approveUrl(id: string): string;
  /** What has to be done before anybody can decide there: callers are told, and nobody is shown the address. */
  obstacle?: string | undefined;
}

export interface Gatekeeper extends Omit<GateOptions, "ttlMs" | "holdMs" | "holdWithProgressMs"> {
  readonly ttlMs: number;
  readonly holdMs: number;
  readonly holdWithProgressMs: number;
  readonly grants: Grants;
  /** Everything is asked for. */
  isPanic: boolean;
  readonly watchers: Set<GateWatcher>;
  /** Callers to be woken when a gate changes. */
  readonly waiting: Map<string, Set<() => unknown>>;
  /** Which gates were shown to which clients as addresses: nobody is asked twice. */
  readonly shown: Set<string>;
  /** Wrong proofs for a gate so far. */
  readonly failures: Map<string, number>;
  /** Gates of trees below, by their ids: the proof is checked where the gate stands. [AX-11.3-8] */
  readonly below: Map<string, GateBelow>;
  /** Gates that were told to trees above, whose calls have not come yet. [AX-11.3-8] */
  readonly promised: Map<string, Promised>;
  /** Does what was signed about the gates themselves. [B-KEY-2] */
  carryOutChange?: ((gate: Gate) => Promise<CallOutcome>) | undefined;
}

interface GateBelow {
  readonly segment: string | undefined;
  /** The full name of what was called here. */
  readonly tool: string;
  readonly askedBy: string;
}

export interface Promised extends PromisedGate {
  readonly wish: GateWish;
}

const ttlMsDefault = 300_000;
/** Some clients give up after five seconds. */
const holdMsDefault = 4_000;
const holdWithProgressMsDefault = 25_000;

export function createGatekeeper(options: GateOptions): Gatekeeper {
  return {
    ...options,
    ttlMs: options.ttlMs ?? ttlMsDefault,
    holdMs: options.holdMs ?? holdMsDefault,
    holdWithProgressMs: options.holdWithProgressMs ?? holdWithProgressMsDefault,
    grants: new Map(),
    isPanic: options.isPanic === true,
    watchers: new Set(),
    waiting: new Map(),
    shown: new Set(),
    failures: new Map(),
    below: new Map(),
    promised: new Map(),
  };
}

/** Whose signatures count at this moment: for whatever is decided by it. */
export async function anchorsNow({ anchors }: Pick<Gatekeeper, "anchors">): Promise<readonly AnchorKey[]> {
  return "now" in anchors ? await anchors.now() : anchors;
}

/** The same, as far as it is known without looking: to be shown. */
export function knownAnchors({ anchors }: Pick<Gatekeeper, "anchors">): readonly AnchorKey[] {
  return "known" in anchors ? anchors.known() : anchors;
}

/** Tells everybody who waits for this gate, and those who show it. */
export function wake({ waiting, watchers, failures }: Gatekeeper, gate: Gate): void {
  for (const callback of waiting.get(gate.id) ?? []) callback();
  waiting.delete(gate.id);
  if (gate.status !== "pending") failures.delete(gate.id);
  show({ watchers }, gate);
}

/** Tells everything that shows gates to people. */
export function show({ watchers }: Pick<Gatekeeper, "watchers">, gate: Gate): void {
  for (const { changed } of watchers) changed?.(gate);
}

const belowMax = 10_000;

/** A gate of a tree below has come by: its confirmation must find the way back, also when that tree has come back. */
export function noteBelow(
  { below }: Gatekeeper,
  { server: { segment }, fullName: tool }: Pick<Entry, "server" | "fullName">,
  caller: Caller,
  result: JsonObject,
): void {
  const id = confirmationOf(result)?.confirmation_id;
  // The first server to name an id keeps it: a server that names the same id later has learned it elsewhere.
  if (typeof id !== "string" || below.has(id)) return;
  const [oldest] = below.keys();
  if (below.size >= belowMax && oldest !== undefined) below.delete(oldest);
  below.set(id, { segment, tool, askedBy: askerOf(caller).name });
}

/** The tree a gate stands in, or below, and who has asked there. */
export function findBelow(
  { bySegment, root }: Pick<TreeState, "bySegment" | "root">,
  { below }: Gatekeeper,
  id: string,
): { server: Server; tool: string; askedBy: string } | undefined {
  const found = below.get(id);
  const server = found?.segment === undefined ? root : bySegment.get(found.segment);
  return found && server && { server, tool: found.tool, askedBy: found.askedBy };
}
