// What a server wrote beside the protocol: its last lines, for people. The oldest go first.
import { stripVTControlCharacters } from "node:util";

export interface Remark {
  /** Wall clock. */
  readonly at: number;
  readonly line: string;
}

const linesMax = 200;
const charsMax = 65_536;
const lineCharsMax = 2_000;

export class Remarks {
  readonly #kept: Remark[] = [];
  #chars = 0;

  push(line: string, at: number): void {
    const kept = line.slice(0, lineCharsMax);
    this.#kept.push({ at, line: kept });
    this.#chars += kept.length;
    while (this.#kept.length > linesMax || this.#chars > charsMax) {
      this.#chars -= this.#kept.shift()?.line.length ?? 0;
    }
  }

  /** Oldest first. */
  list(): readonly Remark[] {
    return [...this.#kept];
  }
}

const wordsMax = 5;
const wordsCharsMax = 400;
const isFault =
  /\b(error|exception|panic|fatal|cannot|failed|not found|denied|refused)\b|Error\b|Exception\b/i;

/** The few lines that say most of why it ended; empty where it said nothing. */
export function lastWords(remarks: Remarks): string {
  const lines = remarks.list().map(({ line }) => plain(line));
  // What stands indented below a fault, such as where in the code it was, is for its author.
  const telling = [...new Set(lines.filter((line) => !isFrame(line)))].slice(-wordsMax);
  const first = telling.findIndex((line) => isFault.test(line));
  const text = telling.slice(Math.max(first, 0)).join(" | ");
  return text.length > wordsCharsMax ? `${text.slice(0, wordsCharsMax - 1)}…` : text;
}

/** A fault, and what the server said last. */
export function withLastWords(detail: string, said: Remarks): string {
  const words = lastWords(said);
  return words === "" ? detail : `${detail}: ${words}`;
}

/** Around the fault, not part of it. */
function isFrame(line: string): boolean {
  const isAside = line.startsWith("(") && line.endsWith(")");
  return isAside || /^(\s|Node\.js v|npm (notice|warn))/i.test(line) || !/\p{L}/u.test(line);
}

function plain(line: string): string {
  return stripVTControlCharacters(line)
    .replace(/\p{Cc}/gu, " ")
    .trimEnd();
}
