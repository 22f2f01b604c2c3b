// A command in a real terminal (a pty): what it shows, prompts without an end of line included, and keys pressed there.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { mcpxCommand } from "../../support/programs.ts";

export interface TypedTerminal {
  /** All that was shown so far. */
  shown(): string;
  /** Resolves when something shown since the last of these matches; rejects where the command ends first. */
  until(pattern: RegExp): Promise<void>;
  press(keys: string): void;
  readonly ended: Promise<number | null>;
}

export interface TerminalOptions {
  cwd: string;
  env?: Record<string, string>;
  /** Another program than mcpx. */
  program?: readonly string[];
}

export function openTerminal(
  args: readonly string[],
  { cwd, env, program = mcpxCommand }: TerminalOptions,
): TypedTerminal {
  const { HOME: _, MCPX_DATA: __, MCPX_TOKEN: ___, XDG_DATA_HOME: ____, ...rest } = process.env;
  const child = spawn("python3", [`${import.meta.dirname}/terminal.py`, ...program, ...args], {
    cwd,
    env: { ...rest, HOME: "/nonexistent", NO_COLOR: "1", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  let text = "";
  let seenTo = 0;
  let isOver = false;
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const look of waiting) look();
  };
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
    wake();
  });
  const ended = once(child, "close").then(([code]) => {
    isOver = true;
    wake();
    return code as number | null;
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return {
    shown: () => text,
    press: (keys) => void child.stdin.write(keys),
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text.slice(seenTo));
          if (found === null && !isOver) return;
          waiting.delete(look);
          if (found === null) return reject(new Error(`ended without ${pattern}:\n${text}`));
          seenTo += found.index + found[0].length;
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}
