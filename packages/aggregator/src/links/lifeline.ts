// Our end of the reaper: one for all children of this process, there for as long as any of them is. When it is ended
// by somebody, another one takes its place.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { fileURLToPath } from "node:url";
import type { Group } from "./process-group.ts";

/** For starts that follow each other. */
const lingerMs = 250;
/** A reaper that ended sooner than this after its start is not replaced before this time has passed. */
const shortLifeMs = 1_000;

const groups = new Map<number, Group>();
let reaper: ChildProcess | undefined;
let lingering: NodeJS.Timeout | undefined;

/** To be called before a child is started, so that it can be held in the same tick. Throws where there can be none. */
export function readyReaper(): void {
  if (reaper === undefined) startReaper();
  // The child may come to nothing.
  dismissLater();
}

/** From now on it ends if we end, however we do. */
export function hold(group: Group): void {
  groups.set(group.pid, group);
  tell(`+${group.pid} ${group.began}`);
}

/** Nobody is left of it; its number may come to be another's. */
export function release({ pid }: Group): void {
  if (!groups.delete(pid)) return;
  tell(`-${pid}`);
  dismissLater();
}

function startReaper(): void {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const script = fileURLToPath(new URL(`./reaper.${extension}`, import.meta.url));
  const child = spawn(process.execPath, [script], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "ignore", "ignore"],
    // Signals from a terminal are not for it.
    detached: true,
  });
  const beganMs = performance.now();
  // There is no process to end then, so there will be no exit either.
  child.on("error", () => {});
  if (child.pid === undefined) throw new Error("the reaper cannot be started");
  child.stdin?.on("error", () => {});
  (child.stdin as Socket).unref();
  child.unref();
  reaper = child;
  for (const { pid, began } of groups.values()) tell(`+${pid} ${began}`);
  child.on("exit", () => {
    if (reaper !== child) return;
    reaper = undefined;
    const isShort = performance.now() - beganMs < shortLifeMs;
    if (isShort) setTimeout(replace, shortLifeMs).unref();
    else replace();
  });
}

function replace(): void {
  if (reaper !== undefined || groups.size === 0) return;
  try {
    startReaper();
  } catch {
    // No processes left for it: perhaps later.
    setTimeout(replace, shortLifeMs).unref();
  }
}

/** It is written at once where the pipe has room, as it has for some thousand lines. */
function tell(line: string): void {
  reaper?.stdin?.write(`${line}\n`);
}

function dismissLater(): void {
  if (groups.size > 0) return;
  clearTimeout(lingering);
  lingering = setTimeout(dismiss, lingerMs).unref();
}

function dismiss(): void {
  if (groups.size > 0) return;
  const child = reaper;
  reaper = undefined;
  child?.stdin?.destroy();
}
