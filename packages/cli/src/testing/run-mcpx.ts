// A command line run to its end in this process, with nobody at its terminal: for tests of what commands do, of which
// starting a process each time would be most of the cost.
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../command-line/command-line.ts";
import { askAtTerminal } from "../framework/ask-secret.ts";
import { openInput } from "../framework/input.ts";
import { createOutput } from "../framework/output.ts";

export interface Ended {
  code: number;
  out: string;
  err: string;
}

interface Place {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** How it is started: as in a clone unless given. */
  program?: string;
}

export async function runMcpxAt(
  { env, cwd, program = "npx mcpx" }: Place,
  args: readonly string[],
): Promise<Ended> {
  const [stdin, stdout, stderr] = [new PassThrough().end(), new PassThrough(), new PassThrough()];
  const said = Promise.all([text(stdout), text(stderr)]);
  const code = await runCommandLine(args, {
    ...{ env, cwd, program, output: createOutput({ stdout, stderr }) },
    input: () => openInput({ stdin, stdout }),
    askSecret: askAtTerminal,
    interrupted: () => new AbortController().signal,
  });
  stdout.end();
  stderr.end();
  const [out, err] = await said;
  return { code, out, err };
}

/** Without a home and a gateway. */
export function runMcpx(...args: string[]): Promise<Ended> {
  return runMcpxAt({ env: { HOME: "/nowhere" }, cwd: "/nowhere", program: "mcpx" }, args);
}
