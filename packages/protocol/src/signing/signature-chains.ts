// The order of signed envelopes inside each sender's session: what is missing, late, repeated or forked. Fed with the
// verdicts of a room in the order of `seq`; pure and bounded.
import type { SignatureVerdict } from "./judge-envelope.ts";

export interface NumberRange {
  readonly first: number;
  readonly last: number;
}

export type ChainFinding =
  | ({ readonly type: "missing" } & SessionName & NumberRange)
  | ({ readonly type: "out_of_order" | "repeated" | "forked"; readonly n: number } & SessionName);

interface SessionName {
  readonly from: string;
  readonly session: string;
}

interface Session extends SessionName {
  /** The first number that was seen; earlier ones are not known. */
  readonly begin: number;
  last: number;
  lastDigest: string;
  gaps: NumberRange[];
}

const sessionsMax = 1_000;
const gapsMax = 256;

export class SignatureChains {
  readonly #sessions = new Map<string, Session>();

  /** What this envelope reveals; `undefined` where it follows the one before it. */
  add({ from, key, link }: SignatureVerdict): ChainFinding | undefined {
    if (key === undefined || link === undefined) return undefined;
    const name = `${from} ${key.x} ${link.session}`;
    const known = this.#sessions.get(name);
    if (known === undefined) {
      this.#begin(name, {
        from,
        session: link.session,
        begin: link.n,
        last: link.n,
        lastDigest: link.digest,
        gaps: [],
      });
      return undefined;
    }
    const finding = link.n > known.last ? advance(known, link) : lookBack(known, link.n);
    known.gaps = (link.skipped ?? []).reduce(without, known.gaps);
    if (finding?.type !== "missing") return finding;
    // What this very envelope gives as skipped is not missing.
    return known.gaps.some(({ last }) => last >= finding.first) ? finding : undefined;
  }

  /** The numbers that were neither seen nor skipped, as of now. */
  missing(): (SessionName & NumberRange)[] {
    return [...this.#sessions.values()].flatMap(({ from, session, gaps }) =>
      gaps.map((gap) => ({ from, session, ...gap })),
    );
  }

  #begin(name: string, session: Session): void {
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size >= sessionsMax && oldest !== undefined) this.#sessions.delete(oldest);
    this.#sessions.set(name, session);
  }
}

function advance(known: Session, link: NonNullable<SignatureVerdict["link"]>): ChainFinding | undefined {
  const { from, session, last, lastDigest } = known;
  const { n, prev, digest } = link;
  known.last = n;
  known.lastDigest = digest;
  if (n === last + 1) return prev === lastDigest ? undefined : { type: "forked", from, session, n };
  const gap = { first: last + 1, last: n - 1 };
  known.gaps.push(gap);
  if (known.gaps.length > gapsMax) known.gaps.shift();
  return { type: "missing", from, session, ...gap };
}

function lookBack(known: Session, n: number): ChainFinding {
  const { from, session, begin, gaps } = known;
  const isLate = n < begin || gaps.some(({ first, last }) => first <= n && n <= last);
  known.gaps = without(gaps, n);
  return { type: isLate ? "out_of_order" : "repeated", from, session, n };
}

function without(gaps: NumberRange[], n: number): NumberRange[] {
  return gaps.flatMap((gap) => {
    if (n < gap.first || n > gap.last) return [gap];
    const parts = [
      { first: gap.first, last: n - 1 },
      { first: n + 1, last: gap.last },
    ];
    return parts.filter(({ first, last }) => first <= last);
  });
}
