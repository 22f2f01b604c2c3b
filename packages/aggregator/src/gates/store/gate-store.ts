// The calls that wait for a human, and their outcomes. It outlives the process: what was released once is never
// released again. Siblings: `gate-store-sqlite.ts`, `gate-store-postgres.ts`. [AX-11.3-1] [AX-11.3-5]
import type { Capability, GateTerms, ServerTerms } from "@mcpx/protocol";

export type GateStatus =
  | "pending"
  | "approved"
  | "consumed"
  | "done"
  | "failed"
  | "rejected"
  | "expired"
  | "indeterminate"
  /** The call was made, and its result waits for a release. */
  | "held"
  /** The call was made, and nobody will see its result. */
  | "withheld"
  /** It was approved, and could not be sent as it was signed: nothing was. */
  | "refused";

/** What the asker's token was good for; asked about again before anything is sent. */
export interface AskerToken {
  readonly jti: string;
  readonly tools: readonly string[];
  readonly toolBounds?: readonly string[] | undefined;
  /** The name of the filter it came through. */
  readonly profile?: string | undefined;
  /** Ms since 1970, as `Principal` has it. */
  readonly issuedAt?: number | undefined;
  /** Ms since 1970; absent where it never ends. */
  readonly expiresAt?: number | undefined;
}

/** What a caller wants to do. */
export interface GateWish {
  /** The caller. */
  readonly principal: string;
  readonly session: string;
  /** Thumbprints of the caller's own keys: they never approve it. [AX-11.3-6] */
  readonly keys: readonly string[];
  /** Canonical. */
  readonly tool: string;
  /** Exact JSON: what was looked at is what is sent, to the byte. */
  readonly argumentsText: string;
  /** `digestOf` the arguments. */
  readonly digest: string;
  /** Where it goes. Absent in gates of older builds, which are never approved. */
  readonly server?: ServerTerms | undefined;
  readonly token?: AskerToken | undefined;
  readonly route: readonly string[];
  /** The gates below at which the same call will stop, from the first downward. [AX-11.3-8] */
  readonly below?: readonly GateTerms[] | undefined;
  readonly capability: Readonly<Capability>;
  /** Why it is asked for, as `classify` says. */
  readonly why: string;
  /** How many must approve the call, and release its result where that is held. */
  readonly approvers: number;
  /** The caller sees the result only once it was released. */
  readonly holdsResult?: boolean | undefined;
  /** The call itself waits for nobody. */
  readonly isAllowed?: boolean | undefined;
  /** A caller that is told of the approval makes the call elsewhere: it is told once, however late. */
  readonly isForOneHearer?: boolean | undefined;
  /** It was made before it had a gate, which is under way from the first. Not kept. */
  readonly isMade?: boolean | undefined;
}

/** What a gate was said to be before its call came. */
export interface PromisedGate {
  readonly id: string;
  readonly nonce: string;
  /** Ms since 1970. */
  readonly expiresAt: number;
}

/** An approval whose proof was verified. */
export interface ApprovalGiven {
  readonly by: string;
  readonly thumbprint: string;
  readonly proof: string;
  /** The same for the same decision of the same key, however it is spelled. */
  readonly proofHash: string;
}

export interface Approval extends ApprovalGiven {
  /** Ms since 1970. */
  readonly at: number;
}

export interface Rejection {
  readonly by: string;
  readonly reason?: string | undefined;
  /** Absent where no proof was needed. */
  readonly proofHash?: string | undefined;
}

/** What came of a call, as those who look at it release it. */
interface Review {
  /** The gate's status once it is released. */
  readonly outcome: "done" | "failed";
  /** Of the result's text, to the byte. */
  readonly digest: string;
  readonly approvals: readonly Approval[];
}

export interface Gate extends GateWish {
  /** Unguessable, as is the nonce. */
  readonly id: string;
  readonly nonce: string;
  readonly status: GateStatus;
  readonly approvals: readonly Approval[];
  /** Ms since 1970. */
  readonly createdAt: number;
  /** Of the call, and once its result is held of that. */
  readonly expiresAt: number;
  readonly heldAt?: number | undefined;
  /** Present once the result was held. */
  readonly review?: Review | undefined;
  /** When it was over; absent until then. */
  readonly settledAt?: number | undefined;
  /** Of the tool, as JSON. Absent in `done` and `failed` where it was too large to keep. */
  readonly resultText?: string | undefined;
  /** Whether the caller has got the outcome. */
  readonly isDelivered: boolean;
  readonly rejectedBy?: string | undefined;
  readonly reason?: string | undefined;
  /** The word of the error for which an approved call was not sent. */
  readonly refusal?: string | undefined;
}

/** A gate without its large texts. */
export type ListedGate = Omit<Gate, "argumentsText" | "resultText">;

export interface CallOutcome {
  readonly status: "done" | "failed" | "indeterminate" | "withheld" | "refused";
  readonly resultText?: string | undefined;
  /** Why it is withheld or refused. */
  readonly reason?: string | undefined;
  readonly refusal?: string | undefined;
}

/** What is kept for those who look at it. */
export interface HeldOutcome {
  readonly status: Review["outcome"];
  readonly resultText: string;
}

/** Deciding throws `confirmation_unknown`, `confirmation_expired` or `confirmation_used` where it comes too late. */
export interface GateStore {
  /**
   * A new gate, or the one the same call of the same principal to the same server waits at already, or whose outcome
   * it has not heard. A new one is the one that was promised, where one was. The asker who joins brings its keys, whose
   * approvals count no more, and its latest token. Throws `too_many_gates`, `too_large` or `bad_field`.
   */
  open(wish: GateWish, ttlMs: number, promised?: PromisedGate): Promise<{ gate: Gate; isNew: boolean }>;
  /** What is over reads as expired, whether `expire` has been there or not. */
  find(id: string): Promise<Gate | undefined>;
  /** The gate that `open` would give back. */
  findOpen(wish: SameCall): Promise<Gate | undefined>;
  /** The call of the same tool that was approved and done last before this one; of one principal, or of all. */
  findLast(gate: Pick<Gate, "id" | "tool">, principal?: string): Promise<Gate | undefined>;
  /** Each approver and each proof counts once; the last one needed makes it `approved`. */
  approve(id: string, approval: ApprovalGiven): Promise<Gate>;
  reject(id: string, rejection: Rejection): Promise<Gate>;
  /** True once ever, on disk before it returns: only who gets it dispatches. [AX-11.3-5] */
  consume(id: string): Promise<boolean>;
  /** Of what was consumed; false where that is not so any more. */
  settle(id: string, outcome: CallOutcome): Promise<boolean>;
  /** Of what was consumed: on disk before anybody can see it. What is too large to be kept is withheld. */
  hold(id: string, outcome: HeldOutcome, ttlMs: number): Promise<boolean>;
  /** Of a held result. Each approver and each proof counts once; enough of them let it be handed over. */
  approveResult(id: string, approval: ApprovalGiven): Promise<Gate>;
  /** Withholds the result for good. */
  rejectResult(id: string, rejection: Rejection): Promise<Gate>;
  /** What enough have released goes to its caller. True once. */
  handOver(id: string): Promise<boolean>;
  /** The caller has got the outcome: from now on the same call is a new one. True the first time. */
  deliver(id: string): Promise<boolean>;
  /**
   * Ends those whose time is over, a thousand at most, writes what the store could not take when it happened, and gives
   * back what has ended by that. To be called every second or so.
   */
  expire(): Promise<ListedGate[]>;
  /**
   * Of gateways that are neither this one nor among `living`: what they have consumed without an outcome is
   * `indeterminate`, what they have only approved was never sent.
   */
  recover(living?: ReadonlySet<string>): Promise<ListedGate[]>;
  /** Newest first, a thousand at most. */
  list(query?: { status?: GateStatus | undefined }): Promise<ListedGate[]>;
  /** True the first time, never again. `approve` and `reject` ask it themselves. */
  useProof(hash: string): Promise<boolean>;
}

/** What makes two calls the same. */
export type SameCall = Pick<GateWish, "principal" | "tool" | "digest" | "server">;

export interface GateLimits {
  /** Gates of one principal that wait for a decision. */
  waitingPerPrincipalMax: number;
  waitingMax: number;
  argumentsCharsMax: number;
  /** Of all arguments that wait. */
  waitingCharsPerPrincipalMax: number;
  waitingCharsMax: number;
  resultCharsMax: number;
  /** Ended gates, and their texts; those whose callers have got the outcome are deleted first. */
  finishedMax: number;
  finishedCharsMax: number;
  /** How long the same call still gets an outcome that no caller has got. */
  joinMs: number;
}

const mebi = 1_048_576;

export const defaultGateLimits: Readonly<GateLimits> = Object.freeze({
  waitingPerPrincipalMax: 20,
  waitingMax: 10_000,
  argumentsCharsMax: 4 * mebi,
  waitingCharsPerPrincipalMax: 8 * mebi,
  waitingCharsMax: 64 * mebi,
  resultCharsMax: mebi,
  finishedMax: 1_000,
  finishedCharsMax: 64 * mebi,
  joinMs: 600_000,
});

export const listMax = 1_000;

/** A gate, or one that was promised. */
export type SignedGate = Omit<GateWish, "argumentsText"> & PromisedGate & Pick<Gate, "review">;

/** What its approvers sign. */
export function termsOf(gate: SignedGate, aggregatorId: string): GateTerms {
  const { server } = gate;
  return {
    ...(server !== undefined && { version: 2, asker: gate.principal, server }),
    confirmation_id: gate.id,
    aggregator_id: aggregatorId,
    route: gate.route,
    tool: gate.tool,
    arguments_digest: gate.digest,
    nonce: gate.nonce,
    expires_at: Math.floor(gate.expiresAt / 1_000),
    ...(gate.review && { phase: "result", result_digest: gate.review.digest }),
  };
}
