// The word somebody probably meant. Pure.

/** The candidate nearest to a word, where it is near enough to be meant. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const lower = word.toLowerCase();
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(lower, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  if (best === undefined) return undefined;
  return best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** `did you mean X?`, or nothing. */
export function suggestion(word: string, candidates: readonly string[], prefix = ""): string | undefined {
  const found = nearest(word, candidates);
  return found === undefined ? undefined : `did you mean ${prefix}${found}?`;
}

/** Insertions, deletions, replacements and swaps of neighbours that make one word of the other. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1];
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const steps = [at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (isSame ? 0 : 1)];
      if (isSwap) steps.push(at(beforeLast, j - 2) + 1);
      row.push(Math.min(...steps));
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
