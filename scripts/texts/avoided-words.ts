// The words that texts for people do not use, and the better ones: the second table of docs/GLOSSARY.md. Pure.

export interface AvoidedWord {
  word: string;
  /** What to write in its place. */
  better: string;
}

export interface AvoidedUse extends AvoidedWord {
  /** From 1. */
  line: number;
  text: string;
}

const heading = "## Words not used";

/** The rows of the table below the heading; a row may name several words, with commas between them. */
export function readAvoidedWords(glossary: string): AvoidedWord[] {
  const [, section = ""] = glossary.split(heading);
  return [...section.matchAll(/^\| (?!not used|---)([^|]+?) \| ([^|]+?) \|$/gm)].flatMap(
    ([, words = "", better = ""]) => words.split(", ").map((word) => ({ word, better })),
  );
}

/** The page without the table that names the words. */
export function withoutAvoidedTable(page: string): string {
  return page.split(heading)[0] ?? "";
}

export function findAvoided(
  texts: readonly { line: number; text: string }[],
  words: readonly AvoidedWord[],
): AvoidedUse[] {
  const patterns = words.map((word) => ({ ...word, pattern: patternOf(word.word) }));
  return texts.flatMap(({ line, text }) =>
    patterns
      .filter(({ pattern }) => pattern.test(text))
      .map(({ word, better }) => ({ word, better, line, text })),
  );
}

/** As a test says it: where it stands, and what to write in its place. */
export function avoidedText(path: string, { line, text, word, better }: AvoidedUse): string {
  return `${path}:${line}: "${word}" in "${text}": write ${better}`;
}

function patternOf(word: string): RegExp {
  const letters = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll(" ", "\\s+");
  return new RegExp(`(?<![\\p{L}\\d-])${letters}(?![\\p{L}\\d-])`, "iu");
}
