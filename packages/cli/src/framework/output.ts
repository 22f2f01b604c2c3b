// What a command prints: results on standard output, notes on standard error, colours only where they are wanted.
import { once } from "node:events";
import type { WriteStream } from "node:tty";
import { styleText } from "node:util";
import { visibleJson } from "@mcpx/protocol";

export interface Output {
  /** Whether somebody reads standard output on a terminal. */
  readonly isTerminal: boolean;
  /** The same for standard error. */
  readonly isErrorTerminal: boolean;
  /** Columns of the terminal; of a wide one where standard output is none. */
  readonly width: number;
  line(text?: string): void;
  /** One line that parses to the same value, with nothing in it that hides or steers a terminal. */
  json(value: unknown): void;
  /** As many lines as there are, as fast as they are read. */
  pour(lines: AsyncIterable<string>): Promise<void>;
  /** For people beside the result; on standard error. */
  note(text: string): void;
  /** At a terminal, a note that the next one takes the place of; an empty one only takes it away. */
  progress(text: string): void;
  /** Plain where NO_COLOR says so or nobody is there to see it. */
  paint(style: Style, text: string): string;
}

type Style = "bold" | "dim" | "cyan" | "green" | "yellow" | "red";

export interface Streams {
  stdout: NodeJS.WritableStream & Partial<Pick<WriteStream, "isTTY" | "columns">>;
  stderr: NodeJS.WritableStream & Partial<Pick<WriteStream, "isTTY">>;
}

/** Of files, pipes and terminals that do not say theirs. */
const widthOfNone = 160;
/** What stands behind the cursor on its line. */
const eraseRest = "\u001b[K";

export function createOutput({ stdout, stderr }: Streams): Output {
  return {
    isTerminal: stdout.isTTY === true,
    isErrorTerminal: stderr.isTTY === true,
    get width() {
      // Some terminals say that they have none.
      return stdout.columns || widthOfNone;
    },
    line: (text = "") => stdout.write(`${text}\n`),
    json: (value) => stdout.write(`${visibleJson(JSON.stringify(value))}\n`),
    pour: async (lines) => {
      for await (const line of lines) if (!stdout.write(`${line}\n`)) await once(stdout, "drain");
    },
    note: (text) => stderr.write(`${text}\n`),
    progress: (text) => {
      if (stderr.isTTY === true) stderr.write(`${text}${eraseRest}\r`);
    },
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}

/** Columns that are left for one column of a table when all others have theirs. */
export function widthLeft(column: number, rows: readonly (readonly string[])[], width: number): number {
  const widest = (index: number) => Math.max(0, ...rows.map((row) => row[index]?.length ?? 0));
  const count = Math.max(0, ...rows.map((row) => row.length));
  const others = Array.from({ length: count }, (_, index) =>
    index === column ? 0 : widest(index) + gapOf.length,
  );
  return Math.max(
    roomMin,
    others.reduce((left, taken) => left - taken, width),
  );
}

const gapOf = "  ";
/** Less tells nothing: then lines are longer than the terminal is wide. */
const roomMin = 24;

/** Rows of cells as lines, each column as wide as its widest cell. */
export function columns(rows: readonly (readonly string[])[], gap = gapOf): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, index) => {
      widths[index] = Math.max(widths[index] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join(gap)
      .trimEnd(),
  );
}
