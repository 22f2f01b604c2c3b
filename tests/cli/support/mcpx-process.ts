// The command in a process of its own, with an environment of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import type * as RunMcpx from "../../../packages/cli/src/testing/run-mcpx.ts";
import { loadProgram, mcpxCommand } from "../../support/programs.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));
/** How users start it: finds a Node that can, and becomes the command. */
export const bin = join(root, "packages", "cli", "bin", "mcpx.js");

/** Gone when the test is. */
export function scratch(): string {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-cli-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

export interface RunOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** Standard input is a pipe for `type`; otherwise there is none. */
  isTyped?: boolean;
  /** Another program than the command itself, with what comes before its words. */
  program?: readonly [string, ...string[]];
}

export interface RunningCommand {
  readonly pid: number;
  readonly out: string[];
  readonly err: string[];
  /** What stands on the last line of its output, which has not ended: a question, for example. */
  readonly unended: string;
  /** The first line, out or err, that has been or will be printed and matches. Rejects when the command ends first. */
  line(pattern: RegExp): Promise<string>;
  /** Writes to its standard input; without a line, ends it. */
  type(line?: string): void;
  /** Single keys of a terminal, without an end of line. */
  press(keys: string): void;
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/** Starts a command; whatever is left of it is killed when the test is over. */
export function start(args: readonly string[], options: RunOptions = {}): RunningCommand {
  const [program, ...before] = options.program ?? mcpxCommand;
  const child = spawn(program, [...before, ...args], {
    cwd: options.cwd ?? tmpdir(),
    env: envOf(options),
    stdio: [options.isTyped ? "pipe" : "ignore", "pipe", "pipe"],
  });
  return watch(child);
}

/** Ours, but for what says where somebody lives. */
function envOf(options: RunOptions): Record<string, string | undefined> {
  const { HOME: _, MCPX_DATA: __, MCPX_TOKEN: ___, XDG_DATA_HOME: ____, ...env } = process.env;
  return { ...env, HOME: "/nonexistent", NO_COLOR: "1", ...options.env };
}

function watch(child: ChildProcess): RunningCommand {
  const out: string[] = [];
  const err: string[] = [];
  const waiting = new Set<() => void>();
  let isOver = false;
  const collect = (stream: NodeJS.ReadableStream | null, lines: string[]) => {
    createInterface({ input: stream as NodeJS.ReadableStream }).on("line", (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  };
  let unended = "";
  child.stdout?.on("data", (text) => {
    unended = `${unended}${text}`.split("\n").at(-1) ?? "";
  });
  collect(child.stdout, out);
  collect(child.stderr, err);
  const ended = once(child, "close").then(([code, signal]) => {
    isOver = true;
    for (const look of waiting) look();
    return { code, signal };
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    pid: child.pid as number,
    out,
    err,
    get unended() {
      return unended;
    },
    ended,
    type: (line) => void (line === undefined ? child.stdin?.end() : child.stdin?.write(`${line}\n`)),
    press: (keys) => void child.stdin?.write(keys),
    kill: (signal) => child.kill(signal),
    line: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = [...out, ...err].find((line) => pattern.test(line));
          if (found === undefined && !isOver) return;
          waiting.delete(look);
          if (found !== undefined) resolve(found);
          else reject(new Error(`ended without ${pattern}:\n${[...out, ...err].join("\n")}`));
        };
        waiting.add(look);
        look();
      }),
  };
}

export interface Finished {
  code: number | null;
  out: string;
  err: string;
}

/**
 * Runs a command to its end: in this process, with a home and a directory of its own, for starting another each time
 * would be most of what a test costs. A gateway, what is typed, and another program are processes.
 */
export async function mcpx(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  if (options.program !== undefined || options.isTyped || args[0] === "up") return asProcess(args, options);
  const { runMcpxAt } = (await loadProgram("packages/cli/src/testing/run-mcpx.ts")) as typeof RunMcpx;
  const { code, out, err } = await runMcpxAt({ env: envOf(options), cwd: options.cwd ?? tmpdir() }, args);
  return { code, out: withoutEnd(out), err: withoutEnd(err) };
}

async function asProcess(args: readonly string[], options: RunOptions): Promise<Finished> {
  const command = start(args, options);
  const { code } = await command.ended;
  return { code, out: command.out.join("\n"), err: command.err.join("\n") };
}

const withoutEnd = (text: string) => text.replace(/\n$/, "");

export interface RunningGateway extends RunningCommand {
  readonly url: string;
  readonly dataDir: string;
}

/** `mcpx up --port 0 --json --no-demo` on this data directory, ready. */
export async function up(
  dataDir: string,
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunningGateway> {
  const command = start(["up", "--port", "0", "--json", "--no-demo", "--data", dataDir, ...args], options);
  const ready = JSON.parse(await command.line(/^\{"url"/)) as { url: string; dataDir: string; pid: number };
  // Where a launcher stands in between, its own process is not the gateway's.
  return { ...command, ...ready };
}
