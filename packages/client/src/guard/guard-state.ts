// What the verbs of a guard share, in the one room it stands in.
import {
  type AccessKey,
  type AccessPolicy,
  type ArgumentJudge,
  type Ed25519Jwk,
  judge,
  McpxError,
  readEd25519Jwk,
  type ToolSet,
  type Verdict,
  type VerifiedTokens,
} from "@mcpx/protocol";
import { type RoomCore, roomNow } from "../core/room-core.ts";
import type { AccessStore } from "./access-store.ts";

/** Somebody wants a capability that no rule gives, or makes a call that needs a yes each time. */
export interface ApprovalQuestion {
  kind: "grant" | "call";
  from: string;
  tools: ToolSet;
  /** The arguments of a call; absent for a grant. */
  arguments?: unknown;
  /** Of a grant, in seconds. */
  duration?: number;
  /** The asker's own words. */
  reason?: string;
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
}

/** A yes to a grant in other words than were asked for: less, or, since it is said explicitly, longer. */
export interface GrantTerms {
  tools?: ToolSet;
  /** In seconds. */
  duration?: number;
  maxUses?: number;
  /** A JSON Schema. */
  arguments?: Record<string, unknown>;
  delegations?: number;
}

export type ApprovalAnswer = boolean | GrantTerms;
export type Approver = (question: ApprovalQuestion) => ApprovalAnswer | Promise<ApprovalAnswer>;

/** For an audit trail. It never holds a token or a proof. */
export interface GuardEvent {
  type: "granted" | "used" | "refused" | "revoked" | "approved";
  topic: string;
  /** Who asked, or whose capability it was. */
  from: string;
  jti?: string;
  tools?: ToolSet;
  reason?: string;
}

export interface GuardOptions {
  key: AccessKey;
  policy?: AccessPolicy;
  /** Without a policy: nothing is open to anybody. */
  strict?: boolean;
  /** Asked where no rule decides; `room` asks the humans who are here. Without, what no rule gives is refused. */
  approve?: Approver | "room";
  /** In memory unless given: then capabilities end with this program. */
  store?: AccessStore;
  /** Judges arguments by a capability's schema; a small part of JSON Schema is understood without. */
  validate?: ArgumentJudge;
  /** Tools whose grants need a yes even where a rule allows them; those with `destructiveHint` unless given. */
  sensitive?: readonly string[];
  /** The longest life of what is granted without an explicit yes to more; 1 h unless given. */
  durationMaxMs?: number;
  /** How often what is granted may be passed on; never unless given. */
  delegations?: number;
  /** How long somebody may take to decide; 5 min unless given. */
  approvalTimeoutMs?: number;
  onEvent?: (event: GuardEvent) => void;
  /** The room's time unless given. */
  now?: () => number;
}

export interface GuardState {
  readonly options: GuardOptions;
  readonly store: AccessStore;
  readonly core: RoomCore;
  readonly verified: VerifiedTokens;
  policy: AccessPolicy;
  /** Those that are served, and those of them that say they destroy. */
  tools: ReadonlySet<string>;
  destructive: ReadonlySet<string>;
  /** The last key each participant was seen with: who comes back shows it a moment later. */
  readonly keys: Map<string, Ed25519Jwk>;
  /** Participants that have passed on capabilities used here. */
  readonly delegators: Set<string>;
  /** Live channel bindings by store id. What is not here is over. */
  readonly channels: Map<string, { holder: string; channel: string }>;
  /** Requests of this minute, by who asks. */
  readonly requests: Map<string, { sinceMs: number; count: number }>;
  /** Questions to humans in the room, by their proposals' ids. */
  readonly questions: Map<string, { from: string; decide(isYes: boolean, by: string): void }>;
  waiting: number;
  readonly ended: AbortController;
}

const requestsPerMinute = 30;
const rememberedMax = 1_024;

export function nowOf({ options, core }: GuardState): number {
  return options.now?.() ?? roomNow(core);
}

/** Of its issuer: other issuers may use the same `jti`. */
export function storeId(issuer: string, jti: string): string {
  return `${issuer} ${jti}`;
}

export function verdictFor(state: GuardState, agent: string, tool: string): Verdict {
  const isHuman = isHumanHere(state, agent);
  return judge(state.policy, { agent, isHuman, tool, nowMs: nowOf(state) });
}

/** As the gateway has authenticated it. [AC-9-5] */
export function isHumanHere({ core }: GuardState, id: string): boolean {
  return core.roster.get(id)?.kind === "human";
}

/** The key the gateway shows beside a name. [AC-9-4] */
export function keyOf(state: GuardState, id: string): Ed25519Jwk | undefined {
  const shown = state.core.roster.get(id)?.key;
  if (shown !== undefined) noteKey(state, id, shown);
  return state.keys.get(id);
}

/** Whatever is shown ends what was shown before, also a key of another kind. [AC-9-9] */
export function noteKey({ keys }: GuardState, id: string, shown: unknown): void {
  const key = readEd25519Jwk(shown);
  if (key === undefined) keys.delete(id);
  else keep(keys, id, key);
}

/** [AC-6-3] */
export function countRequest(state: GuardState, from: string): void {
  const nowMs = nowOf(state);
  const known = state.requests.get(from);
  const window = known !== undefined && nowMs - known.sinceMs < 60_000 ? known : { sinceMs: nowMs, count: 0 };
  window.count += 1;
  keep(state.requests, from, window);
  if (window.count <= requestsPerMinute) return;
  const retryAfterMs = Math.max(1, window.sinceMs + 60_000 - nowMs);
  throw new McpxError("rate_limited", `the limit is ${requestsPerMinute} requests a minute`, {
    retryAfterMs,
  });
}

export function tell(state: GuardState, event: Omit<GuardEvent, "topic">): void {
  state.options.onEvent?.({ topic: state.core.topic, ...event });
}

export function noteDelegators({ delegators }: GuardState, issuers: readonly string[]): void {
  for (const issuer of issuers) {
    const [oldest] = delegators;
    if (delegators.size >= rememberedMax && oldest !== undefined) delegators.delete(oldest);
    delegators.add(issuer);
  }
}

/** The one longest unused goes first. */
function keep<T>(map: Map<string, T>, name: string, value: T): void {
  map.delete(name);
  const [oldest] = map.keys();
  if (map.size >= rememberedMax && oldest !== undefined) map.delete(oldest);
  map.set(name, value);
}
