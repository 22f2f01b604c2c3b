// Real shells at a real terminal, and what they make of a line when Tab is pressed.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { mcpxCommand } from "../../support/programs.ts";
import { type RunningCommand, scratch, start } from "./mcpx-process.ts";

export const shellNames = ["bash", "zsh", "fish"] as const;
export type ShellName = (typeof shellNames)[number];

export interface Shell {
  /** The words that the shell itself would run, were the line sent off with everything that completes it. */
  complete(line: string): Promise<string[]>;
  run(line: string): Promise<void>;
  /** Where it runs: what it should not have made would be here. */
  readonly cwd: string;
}

const terminal = join(import.meta.dirname, "terminal.py");

/** Quiet, and with a key that puts every candidate on the line: Tab, but in bash, which has one of its own. */
const setUps: Record<ShellName, { args: string[]; lines: string[]; all: string }> = {
  bash: {
    args: ["--norc", "--noprofile", "-i"],
    lines: ["bind 'set enable-bracketed-paste off'", "source <(mcpx completion bash)"],
    all: "\u001b*",
  },
  zsh: {
    args: ["-f", "-i"],
    lines: [
      "bindkey -e; bindkey '^I' complete-word; unset zle_bracketed_paste",
      "autoload -Uz compinit; compinit -u -D",
      "source <(mcpx completion zsh)",
      "_all() { _mcpx; compstate[insert]=all }; compdef _all mcpx",
    ],
    all: "\t",
  },
  fish: { args: ["--no-config", "-i"], lines: ["mcpx completion fish | source"], all: "" },
};

/** `env`: what the commands behind it find, MCPX_DATA above all. */
export async function openShell(name: ShellName, env: Record<string, string>): Promise<Shell> {
  const cwd = scratch();
  const bin = mcpxDirectory();
  const { args, lines, all } = setUps[name];
  const shell = start(args, {
    cwd,
    env: {
      ...{ PATH: `${bin}:/usr/bin:/bin`, HOME: cwd, LANG: "C.UTF-8", TERM: "vt100", PS1: "> " },
      // How long a shell waits is judged elsewhere; here the machine may have more to do.
      MCPX_COMPLETION_MS: "10000",
      ...env,
    },
    program: ["python3", terminal, name],
    isTyped: true,
  });
  let count = 0;
  const run = async (before: string, line: string) => {
    count += 1;
    const done = join(bin, `done-${count}`);
    shell.press(`${before}${line} ; echo > ${done}\r`);
    await expect.poll(() => existsSync(done), { message: tell(shell) }).toBe(true);
  };
  for (const line of lines) await run("", line);
  return {
    cwd,
    run: (line) => run("", line),
    async complete(line) {
      const out = join(bin, "words");
      const before = line.split(" ");
      const current = before.pop();
      // Fish has no key for all candidates; it says how it would put them on the line.
      if (name === "fish") {
        await run("", `set found (complete --escape -C ${fishWord(line)} | string replace -r '\\t.*' '')`);
        await run(
          "",
          `if set -q found[1]; eval printf "'%s\\n'" $found > ${out}; else; printf '' > ${out}; end`,
        );
        return readWords(out).sort();
      }
      // From the line's beginning, then on from its end.
      await run(`${line}${all}\u0001`, `printf '%s\\n' \u0005 > ${out}`);
      const found = readWords(out).slice(before.length);
      return found.length === 1 && found[0] === current ? [] : found.sort();
    },
  };
}

/** A directory for PATH that has the command by its name. */
export function mcpxDirectory(): string {
  const dir = scratch();
  const words = mcpxCommand.map((word) => `'${word}'`).join(" ");
  writeFileSync(join(dir, "mcpx"), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  return dir;
}

function fishWord(text: string): string {
  return `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
}

function readWords(path: string): string[] {
  return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

function tell({ out, err }: RunningCommand): string {
  return [...out, ...err].join("\n");
}
