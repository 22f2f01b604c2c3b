// A command line run in this process, without a home, a gateway or a terminal.
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { runCommandLine } from "../command-line/command-line.ts";
import { openInput } from "../framework/input.ts";
import { createOutput } from "../framework/output.ts";

export async function runMcpx(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const code = await runCommandLine(args, {
    env: { HOME: "/nowhere" },
    cwd: "/nowhere",
    program: "mcpx",
    output: createOutput({ stdout, stderr }),
    input: () => openInput({ stdin: new PassThrough(), stdout }),
    askSecret: () => Promise.reject(new Error("there is no terminal")),
    interrupted: () => new AbortController().signal,
  });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}
