// Names that fall together wherever a short hash (FNV-1a, 32 bits) has to tell them apart: pairs of blocks that lead
// from one state to the same next one, in all their combinations.

const prime = 0x01000193;

function step(state: number, text: string): number {
  let hash = state;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), prime) >>> 0;
  return hash;
}

/** Two to the `pairs` names of the same beginning and the same hash. */
export function collidingNames(pairs: number): string[] {
  const head = "a".repeat(70);
  let state = step(0x811c9dc5, head);
  let names = [head];
  for (let n = 0; n < pairs; n += 1) {
    const [one, other] = collidingBlocks(state);
    names = names.flatMap((name) => [name + one, name + other]);
    state = step(state, one);
  }
  return names;
}

/** Three characters each: where the first two agree in the upper half, the last ones make up for the lower. */
function collidingBlocks(state: number): [string, string] {
  const seen = new Map<number, { block: string; next: number }>();
  for (let n = 0; n < 1_000_000; n += 1) {
    const block = String.fromCharCode(0x4e00 + (n % 997), 0x4e00 + ((n * 7_919) % 4_001));
    const next = step(state, block);
    const other = seen.get(next >>> 16);
    seen.set(next >>> 16, { block, next });
    if (other === undefined || other.block === block) continue;
    const makesUp = 0x4e00 ^ next ^ other.next;
    if (makesUp >= 0x3000 && makesUp <= 0xd7ff)
      return [`${block}\u4e00`, other.block + String.fromCharCode(makesUp)];
  }
  throw new Error("no two blocks fall together");
}
