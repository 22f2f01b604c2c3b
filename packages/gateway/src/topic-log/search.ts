// Where in a topic a time or a retention falls. Pure; both siblings search alike because seqs are dense and `at`
// never goes back.
import type { Bounds, Retention } from "./topic-log.ts";

/** The last seq received before a time; `first - 1` where none was. */
export function searchSeqBefore(
  { first, last }: Bounds,
  atOf: (seq: number) => number,
  time: number,
): number {
  let low = first - 1;
  let high = last;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (atOf(middle) < time) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The last seq that a retention does not keep; `first - 1` where it keeps all. */
export function lastToTrim(
  bounds: Bounds,
  seqBefore: (time: number) => number,
  seqBeyond: (bytes: number) => number,
  { count, ageMs, bytes }: Retention,
  now: number,
): number {
  const none = bounds.first - 1;
  const byCount = count === undefined ? none : bounds.last - Math.max(0, count);
  const byAge = ageMs === undefined ? none : seqBefore(now - ageMs);
  const byBytes = bytes === undefined ? none : seqBeyond(bytes);
  return Math.max(none, byCount, byAge, byBytes);
}
