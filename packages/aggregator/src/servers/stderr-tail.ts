// The last lines that a server wrote to stderr, and what its link noted about it, for people. The oldest are dropped first.
import { stripVTControlCharacters } from "node:util";

export interface StderrLine {
  /** Wall clock. */
  readonly at: number;
  readonly line: string;
}

const linesMax = 200;
const charsMax = 65_536;
const lineCharsMax = 2_000;

export class StderrTail {
  readonly #kept: StderrLine[] = [];
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
  list(): readonly StderrLine[] {
    return [...this.#kept];
  }
}

const wordsMax = 5;
const wordsCharsMax = 400;
const isFault =
  /\b(error|exception|panic|fatal|cannot|failed|not found|denied|refused)\b|Error\b|Exception\b/i;

/** The few lines that say most about why the server ended; empty where it wrote nothing. */
export function lastStderrLines(tail: StderrTail): string {
  const lines = tail.list().map(({ line }) => plain(line));
  // Indented lines below a fault, such as a stack trace, are for the server's author.
  const telling = [...new Set(lines.filter((line) => !isFrame(line)))].slice(-wordsMax);
  const first = telling.findIndex((line) => isFault.test(line));
  const text = telling.slice(Math.max(first, 0)).join(" | ");
  return text.length > wordsCharsMax ? `${text.slice(0, wordsCharsMax - 1)}…` : text;
}

/** A fault, and what the server wrote to stderr last. */
export function withStderr(detail: string, tail: StderrTail): string {
  const words = lastStderrLines(tail);
  return words === "" ? detail : `${detail}: ${words}`;
}

/** Lines around a fault that are no part of it: asides, blank lines, notices of npm and Node. */
function isFrame(line: string): boolean {
  const isAside = line.startsWith("(") && line.endsWith(")");
  return isAside || /^(\s|Node\.js v|npm (notice|warn))/i.test(line) || !/\p{L}/u.test(line);
}

function plain(line: string): string {
  return stripVTControlCharacters(line)
    .replace(/\p{Cc}/gu, " ")
    .trimEnd();
}
