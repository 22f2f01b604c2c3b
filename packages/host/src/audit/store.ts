// Where the audit chain is kept: in `state.db` or on PostgreSQL. It appends and gives back; what a chain is, `chain.ts`
// knows, and `walk-chain.ts` goes along it.
import type { AuditRow, ChainedRow, ChainHead, Pruned } from "./chain.ts";

export interface AuditStore {
  /** All of them at the end of the chain, or none; other processes may append too. */
  append(rows: readonly AuditRow[]): Promise<void>;
  /** Oldest first. */
  page(query: AuditPageQuery): Promise<AuditPage>;
  /** Newest first: those with a number of `from` or more, and less than `before`. */
  search(query: AuditSearch): Promise<ChainedRow[]>;
  /** The number of the first record of then or later, of those after one number and up to another. */
  firstAt(since: number, after: number, upTo: number): Promise<number | undefined>;
  /** Of the records that are there; 0 where none is. */
  bounds(): Promise<{ first: number; last: number }>;
  /**
   * Takes out the records up to this one, notes that, and appends what the chain says of it. `undefined` where there is
   * no such record, or others have gone further.
   */
  prune(to: number, at: number): Promise<Pruned | undefined>;
}

export interface AuditPageQuery {
  /** Only records with a greater number. */
  after: number;
  limit: number;
  /** Ms since 1970: only records of then and later. */
  since?: number | undefined;
}

/** The chain as it is stored, oldest first, and where it ends at the same moment. */
export interface AuditPage {
  rows: ChainedRow[];
  head: ChainHead;
  pruned?: Pruned;
}

export interface AuditFilter {
  /** A word, or a pattern in which `*` is any run. */
  action?: string | undefined;
  actor?: string | undefined;
  /** Ms since 1970: only records of then and later. */
  since?: number | undefined;
}

interface AuditSearch extends AuditFilter {
  from: number;
  before: number;
  limit: number;
}

/** Every star costs a walk over the text: so many, and the rest are letters. */
const starsMax = 4;

/** The pattern as pieces, between which anything may stand; two stars are as one. */
export function piecesOf(pattern: string): string[] {
  const pieces = pattern.split(/\*+/);
  const stars = pieces.slice(0, starsMax);
  const rest = pieces.slice(starsMax).join("*");
  return pieces.length > starsMax ? [...stars, rest] : stars;
}
