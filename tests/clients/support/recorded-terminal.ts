// A shell in a terminal that a person could sit at (tmux in a pty): its screen as text, and all that was shown as an
// asciicast, which `asciinema play` and its player for web pages show again.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";

export interface RecordedTerminal {
  /** What stands there now. */
  screen(): string;
  /** A line, and Enter after it. */
  type(line: string): void;
  /** As tmux names keys. */
  press(key: string): void;
  /** Something that happens elsewhere: a mark in the recording. */
  mark(what: string): void;
  /** Nothing is drawn any more. */
  settled(): Promise<void>;
  cast(): string;
  close(): Promise<void>;
}

const size = { columns: 100, rows: 30 } as const;
const tmuxSettings = `
set -g status off
set -g escape-time 0
set -g focus-events on
set -g default-terminal screen-256color
`;
/** Waiting is not shown longer than this. */
const idleMaxS = 3;

export async function openRecordedTerminal(
  env: Record<string, string>,
  cwd: string,
): Promise<RecordedTerminal> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-terminal-"));
  const settings = join(dir, "tmux.conf");
  writeFileSync(settings, tmuxSettings);
  const socket = join(dir, "tmux");
  const terminal = join(import.meta.dirname, "..", "..", "cli", "support", "terminal.py");
  const words = ["-S", socket, "-f", settings, "new-session", "env PS1='$ ' bash --norc --noprofile"];
  const child = spawn("python3", [terminal, "tmux", ...words], {
    cwd,
    env: {
      ...env,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      TERMINAL_SIZE: `${size.columns}x${size.rows}`,
    },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const beganMs = performance.now();
  const events: [number, "o" | "m", string][] = [];
  const keep = (kind: "o" | "m", text: string) =>
    events.push([Math.round(performance.now() - beganMs) / 1_000, kind, text]);
  child.stdout.setEncoding("utf8").on("data", (text: string) => keep("o", text));
  // Its prompt.
  await once(child.stdout, "data");
  const tmux = (...args: string[]) => execFileSync("tmux", ["-S", socket, ...args], { encoding: "utf8" });
  return {
    screen: () => tmux("capture-pane", "-p"),
    type(line) {
      tmux("send-keys", "-l", line);
      tmux("send-keys", "Enter");
    },
    press: (key) => void tmux("send-keys", key),
    mark: (what) => void keep("m", what),
    async settled() {
      for (let seen = -1; seen !== events.length; await wait(1_000)) seen = events.length;
    },
    cast() {
      const head = {
        version: 2,
        width: size.columns,
        height: size.rows,
        idle_time_limit: idleMaxS,
        env: { TERM: "xterm-256color" },
      };
      return [head, ...events].map((line) => `${JSON.stringify(line)}\n`).join("");
    },
    async close() {
      tmux("kill-server");
      await ended;
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
