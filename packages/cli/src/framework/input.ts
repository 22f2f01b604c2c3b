// Lines from standard input. At a terminal there is a prompt, and what is printed meanwhile appears above it without
// harm to what is being typed.
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from "node:readline";
import type { ReadStream, WriteStream } from "node:tty";

export interface Input {
  /** Whether a person types at a terminal. */
  readonly isTerminal: boolean;
  open(options: InputOptions): InputLines;
}

interface InputOptions {
  prompt: string;
  /** What the last word could become. */
  complete(line: string): string[];
  /** A program talks to a program: no prompt, whatever the terminal. */
  isPlain: boolean;
}

export interface InputLines {
  readonly lines: AsyncIterable<string>;
  /** Somebody else reads from the terminal until this is done. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Prints above what is being typed. */
  print(text: string): void;
  close(): void;
}

export interface InputStreams {
  stdin: NodeJS.ReadableStream & Partial<Pick<ReadStream, "isTTY">>;
  stdout: NodeJS.WritableStream & Partial<Pick<WriteStream, "isTTY">>;
}

export function openInput({ stdin, stdout }: InputStreams): Input {
  const isTerminal = stdin.isTTY === true && stdout.isTTY === true;
  return {
    isTerminal,
    open: (options) =>
      isTerminal && !options.isPlain
        ? openPrompt(stdin, stdout as WriteStream, options)
        : openPlain(stdin, stdout),
  };
}

function openPlain(input: NodeJS.ReadableStream, output: NodeJS.WritableStream): InputLines {
  const reader = createInterface({ input, terminal: false });
  return {
    lines: linesOf(reader),
    aside: (work) => work(),
    print: (text) => output.write(`${text}\n`),
    close: () => reader.close(),
  };
}

function openPrompt(input: NodeJS.ReadableStream, output: WriteStream, options: InputOptions): InputLines {
  const reader = createInterface({
    input,
    output,
    terminal: true,
    prompt: options.prompt,
    historySize: 200,
    removeHistoryDuplicates: true,
    completer: (line: string) => [options.complete(line), line.split(" ").at(-1)],
  });
  // Ctrl-C first empties the line, then leaves.
  reader.on("SIGINT", () => {
    if (reader.line === "") reader.close();
    else reader.write(null, { ctrl: true, name: "u" });
  });
  let isOpen = true;
  reader.on("close", () => {
    isOpen = false;
    output.write("\n");
  });
  const lines = linesOf(reader);
  reader.on("line", () => isOpen && reader.prompt());
  reader.prompt();
  return {
    lines,
    async aside(work) {
      reader.pause();
      output.write("\n");
      try {
        return await work();
      } finally {
        if (isOpen) {
          reader.resume();
          reader.prompt();
        }
      }
    },
    close: () => reader.close(),
    print(text) {
      if (!isOpen) {
        output.write(`${text}\n`);
        return;
      }
      const { rows } = reader.getCursorPos();
      moveCursor(output, 0, -rows);
      cursorTo(output, 0);
      clearScreenDown(output);
      // Drawing the line anew begins with going up: by as many rows as the reader believes the cursor to be below
      // the first, which it does not always notice at once. It keeps that in a field its types do not show.
      const { prevRows = rows } = reader as { prevRows?: number };
      output.write(`${text}\n${"\n".repeat(prevRows)}`);
      reader.prompt(true);
    },
  };
}

/** From now on, also those that come before anybody asks for the first. */
function linesOf(reader: Interface): AsyncIterable<string> {
  return reader[Symbol.asyncIterator]() as AsyncIterable<string> & AsyncIterator<string>;
}
