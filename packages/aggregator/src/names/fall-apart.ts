// Giving each of many names another one, all of them different, so that only the set of names matters. Pure.
import { markChars } from "./segment.ts";

export interface Renaming {
  /** Names that stay as they are; they win over all others. */
  keeps(name: string): boolean;
  /** What a name would like to be. */
  wish(name: string): string;
  /** What it is where the wish is taken or wished for by several; its last `markChars` tell it from others. */
  marked(name: string): string;
}

export function fallApart(names: Iterable<string>, { keeps, wish, marked }: Renaming): Map<string, string> {
  const sorted = [...new Set(names)].sort();
  const given = new Map(sorted.filter(keeps).map((name) => [name, name]));
  const used = new Set(given.keys());
  const others = sorted.filter((name) => !given.has(name)).map((name) => ({ name, wished: wish(name) }));
  const counts = new Map<string, number>();
  for (const { wished } of others) counts.set(wished, (counts.get(wished) ?? 0) + 1);
  const isFree = (wished: string) => counts.get(wished) === 1 && !used.has(wished);
  const lonely = others.filter(({ wished }) => isFree(wished));
  for (const { name, wished } of lonely) {
    given.set(name, wished);
    used.add(wished);
  }
  // Marks are short, so names may share one, and it is easy to make many that do: those are numbered, and no number is
  // tried twice.
  const numbers = new Map<string, number>();
  for (const { name } of others.filter((other) => !given.has(other.name))) {
    let candidate = marked(name);
    const head = candidate.slice(0, -markChars);
    while (used.has(candidate)) {
      const number = (numbers.get(head) ?? 0) + 1;
      numbers.set(head, number);
      candidate = head + number.toString(36).padStart(markChars, "0");
    }
    given.set(name, candidate);
    used.add(candidate);
  }
  return given;
}
