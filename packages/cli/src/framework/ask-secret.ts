// A secret, asked for at the terminal of this process and nowhere else: not in arguments or variables, which other
// programs can read and keep, and not from a pipe, which a program alone can fill. What is typed is not shown.
import { closeSync, openSync, writeSync } from "node:fs";
import { isatty, ReadStream } from "node:tty";
import { Failure } from "./failure.ts";

/** One line; throws where there is no terminal, or nobody wants to say it. */
export type AskSecret = (question: string) => Promise<string>;

const device = "/dev/tty";
const charsMax = 1_024;
const keys = { interrupt: "\u0003", end: "\u0004", erase: ["\u007f", "\b"], eraseLine: "\u0015" };

export const askAtTerminal: AskSecret = async (question) => {
  const terminal = openTerminal();
  const stream = new ReadStream(terminal);
  try {
    // Before it is asked for: keys typed early are not shown either.
    stream.setRawMode(true);
    writeSync(terminal, `${question}: `);
    return await readLine(stream);
  } finally {
    stream.setRawMode(false);
    writeSync(terminal, "\n");
    // This closes the terminal as well.
    stream.destroy();
  }
};

function openTerminal(): number {
  try {
    const opened = openSync(device, "r+");
    if (isatty(opened)) return opened;
    closeSync(opened);
  } catch {
    // There is no terminal, or it is another process's: the same for the caller.
  }
  throw new Failure(
    "this needs a passphrase, and there is no terminal to ask for it",
    "run it in a terminal; a passphrase is taken from no argument, variable or pipe",
  );
}

async function readLine(stream: ReadStream): Promise<string> {
  let line: string[] = [];
  stream.setEncoding("utf8");
  for await (const typed of stream as AsyncIterable<string>) {
    for (const key of typed) {
      if (key === "\r" || key === "\n") return line.join("");
      if (key === keys.interrupt || key === keys.end)
        throw new Failure("no passphrase was typed, and nothing was done");
      if (keys.erase.includes(key)) line.pop();
      else if (key === keys.eraseLine) line = [];
      else if (key >= " " && line.length < charsMax) line.push(key);
    }
  }
  throw new Failure("the terminal was closed, and nothing was done");
}
