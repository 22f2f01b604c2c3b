// One step of installing a service: what it looks like, and what steps are made of. [B-KEY-3]
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { Failure } from "../framework/failure.ts";
import { below, type ServiceFacts } from "./facts.ts";

export interface Step {
  /** As a sentence without an end, for the preview and while it is done. */
  what: string;
  /** What is written, for the preview. */
  text?: string;
  isDone(): boolean;
  /** Whether there is something to undo, where that is not the same. */
  isThere?(): boolean;
  work(): void;
  /** Absent where nothing is to be undone. */
  undo?(): void;
}

export function fileStep(facts: ServiceFacts, filePath: string, text: string): Step {
  const path = below(facts, filePath);
  return {
    what: `write ${filePath}`,
    text,
    isDone: () => existsSync(path) && readFileSync(path, "utf8") === text,
    // Whatever somebody has made of it.
    isThere: () => existsSync(path),
    work() {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text, { mode: 0o644 });
    },
    undo() {
      rmSync(path);
      if (facts.platform !== "linux" || facts.root !== "") return;
      // systemd forgets it too, with how it has ended.
      command(["systemctl", "daemon-reload"]);
      spawnSync("systemctl", ["reset-failed", basename(filePath).replace("@", "@*")]);
    },
  };
}

/** The unit may be gone where the link points to. */
export function isLink(path: string): boolean {
  return spawnSync("test", ["-L", path]).status === 0;
}

/** Of any user, on Linux. */
export function idsOf(facts: ServiceFacts, name: string): { uid: number; gid: number } | undefined {
  const path = below(facts, "/etc/passwd");
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
  const [, , uid, gid] = lines.find((line) => line.startsWith(`${name}:`))?.split(":") ?? [];
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}

export function command([program = "", ...args]: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status === 0) return;
  const why = error === undefined ? stderr.trim().split("\n").at(-1) : error.message;
  throw new Failure(`${[program, ...args].join(" ")} failed: ${why}`);
}
