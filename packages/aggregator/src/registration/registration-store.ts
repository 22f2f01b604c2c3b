// What is known of registrations beyond one process' life: whose a segment is, who owns a subserver now, which proofs
// were used. Siblings on SQLite and on PostgreSQL; leases are in memory until several gateways share a store.
// [AX-4.2-2] [AX-13.4-1]

/** Whose a segment is. It outlives the session. */
export interface Claim {
  segment: string;
  subserverId: string;
  /** Who has it, as proven or as authenticated: the same text is the same one. */
  identity: string;
  /** The principal or certificate that registered: tokens of one issuer share an identity. */
  registrant: string;
  /** A proven one is kept for long, others only as long as the tools of a lost server. */
  isProven: boolean;
}

export interface Owner {
  aggregatorId: string;
  sessionId: string;
}

export type Lease =
  /** Ours. The epoch grows with every new owner, for ever. */
  | { isOurs: true; epoch: number }
  /** Another's, for this much longer; of one without an end, when to ask again. */
  | { isOurs: false; owner: Owner; leftMs: number };

export interface RegistrationStore {
  /**
   * Takes the segment where it is free, expired, or this identity's already; gives back whose it is now. Where another
   * registrant keeps the same `subserverId` in another segment, nothing is taken and that claim is given back: who is
   * away for a moment finds its id again. Kept by the wall clock: a claim outlives the process.
   */
  claim(claim: Claim, keepMs: number): Promise<Claim>;
  /** Begins the time again that a claim is kept. One that has expired is gone: only `claim` brings it back. */
  touch(segment: string, keepMs: number): Promise<void>;
  /** As `touch`, for one that has left: its `subserverId` is anybody's again. */
  leave(segment: string, keepMs: number): Promise<void>;
  /** Gives the segment up, if it is this subserver's. */
  release(segment: string, subserverId: string): Promise<void>;
  /**
   * Makes `owner` the subserver's only one, unless another one's lease has not ended. The same aggregator takes over
   * from itself.
   */
  take(subserverId: string, owner: Owner, leaseMs: number): Promise<Lease>;
  /**
   * False where it is not the owner any more; a lease that has ended is its owner's until somebody else takes it.
   * `leaseMs` 0 is for as long as it is not let go.
   */
  renew(subserverId: string, sessionId: string, leaseMs: number): Promise<boolean>;
  letGo(subserverId: string, sessionId: string): Promise<void>;
  /** True the first time, never again. `untilMs` is when the proof itself ends, in wall clock. */
  useProof(id: string, untilMs: number): Promise<boolean>;
}

/** How often stores throw away what is no longer valid; they do it while they write. */
export const pruneMs = 60_000;

/** A clock that was set ahead, and back again, must not bring a used proof back to life. */
export const proofSlackMs = 2 * 86_400_000;

/** Of so many subservers the epoch is remembered. Who was forgotten goes on above the highest of those forgotten. */
export const epochsMax = 10_000;
