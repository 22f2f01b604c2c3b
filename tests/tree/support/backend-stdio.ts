// The raw server on standard input and output.
import { createInterface } from "node:readline";
import { type BackendOptions, respond } from "./backend-methods.ts";
import { type Fault, type FaultName, faults } from "./faults.ts";

export function serveStdio(name: FaultName, options: BackendOptions): void {
  const fault: Fault = faults[name];
  fault.start?.({
    write: (text) => void process.stdout.write(`${text}\n`),
    end: () => process.exit(1),
  });
  const input = createInterface({ input: process.stdin });
  input.on("close", () => process.exit(0));
  input.on("line", (line) => {
    options.record({ line });
    respond(JSON.parse(line), line, fault, options, {
      write: (text) => void process.stdout.write(`${text}\n`),
      stream: (pieces) => stream(pieces),
      end: () => process.exit(7),
      done: () => {},
    });
  });
}

/** One line, written as fast as it is read. */
function stream(pieces: Iterator<string | Buffer>): void {
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    if (process.stdout.write(next.value)) continue;
    process.stdout.once("drain", () => stream(pieces));
    return;
  }
  process.stdout.write("\n");
}
