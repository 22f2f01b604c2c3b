// What a guard must not forget: which proofs were used, how often each capability was, and what was revoked. Every
// sibling passes `accessStoreCases`.

/** One use, all of it or nothing. */
export interface Spending {
  /** Of the proof; kept until then. */
  nonce: string;
  nonceUntilMs: number;
  /** The capability and those it was made from, the owner's last. */
  capabilities: readonly { id: string; maxUses: number | undefined; untilMs: number }[];
}

/** `unknown`: not remembered as granted. Who has forgotten a grant has forgotten its uses and its end, too. */
export type SpendOutcome = "spent" | "unknown" | "replayed" | "revoked" | "uses_exhausted" | "full";

/** A capability this guard has given. */
export interface GrantRecord {
  id: string;
  jti: string;
  topic: string;
  holder: string;
  tools: readonly string[] | "*";
  maxUses?: number;
  delegations?: number;
  /** A rule gave it; otherwise a human or the owner's own code did. */
  isByPolicy: boolean;
  issuedAtMs: number;
  untilMs: number;
}

export interface LiveGrant extends GrantRecord {
  uses: number;
  isRevoked: boolean;
}

export interface AccessStore {
  /** Of any number of equal spendings at one time exactly one is `spent`. It is kept before this resolves. */
  spend(spending: Spending, nowMs: number): Promise<SpendOutcome>;
  revoke(capabilities: readonly { id: string; untilMs: number }[]): Promise<void>;
  /** `false` where there is no room for more. */
  remember(grant: GrantRecord, nowMs: number): Promise<boolean>;
  /** Those not over, oldest first. */
  grants(nowMs: number): Promise<LiveGrant[]>;
  close(): Promise<void>;
}

export interface AccessStoreBounds {
  noncesMax: number;
  grantsMax: number;
}

/** Two minutes' worth of some 800 calls a second, and more grants than anybody reads. */
export const defaultBounds: AccessStoreBounds = { noncesMax: 100_000, grantsMax: 10_000 };
