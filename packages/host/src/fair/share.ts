// The law for whatever there are only so many of: nobody has more than is left for others then. Pure.

/** How many of `max` one may have where all others have so many: never none, while there is one. */
export function shareOf(max: number, ofOthers: number): number {
  const left = max - ofOthers;
  return left <= 0 ? 0 : Math.max(1, Math.floor(left / 2));
}
