// A server spoken to over its standard input and output, one JSON-RPC message per line.
import { isObject } from "@mcpx/protocol";
import { readLines } from "./read-lines.ts";
import { type ServerCommand, startServerProcess } from "./server-process.ts";
import { messageCharsMax, type ServerSide, type ServerTaker } from "./server-side.ts";

const remarkCharsMax = 4_000;
const waitingBytesMax = 16 * 1_048_576;

export async function openStdioServer(command: ServerCommand, taker: ServerTaker): Promise<ServerSide> {
  const { stdin, stdout, stderr, ended, end } = await startServerProcess(command);
  readLines(
    stdout,
    messageCharsMax,
    (line) => takeLine(line, taker),
    () => taker.remark("(a message of more than 16 MiB was dropped)"),
  );
  readLines(stderr, remarkCharsMax, (line) => taker.remark(line));
  return {
    ended,
    close: end,
    send(message) {
      if (stdin.writableLength > waitingBytesMax) return false;
      stdin.write(`${JSON.stringify(message)}\n`);
      return true;
    },
  };
}

/** Some write greetings to their output; they are shown and do no harm. */
function takeLine(line: string, taker: ServerTaker): void {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    taker.remark(line);
    return;
  }
  // COMPAT: MCP 2025-03-26 had batches.
  for (const message of Array.isArray(value) ? value : [value]) {
    if (isObject(message)) taker.message(message);
  }
}
