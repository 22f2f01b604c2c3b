// Whether a file or directory is ours alone: what other users of the machine may write, they decide.
import type { Stats } from "node:fs";
import { Failure } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";

type Owned = Pick<Stats, "uid" | "mode"> & { isDirectory(): boolean };

/** Why others decide what is there, and the command that mends it; `undefined` where nobody else does. */
export function strangersRight(path: string, stats: Owned): { fault: string; fix: string } | undefined {
  const word = shellWord(path);
  const me = process.getuid?.();
  // Where the system has no owners, it has no such rights either.
  if (me === undefined) return undefined;
  // Root may do everything already; and where we are root, a container's volume often belongs to somebody else.
  if (me !== 0 && stats.uid !== me && stats.uid !== 0) {
    const fault = `${path} belongs to the user ${stats.uid}, and this is ${me}`;
    return { fault, fix: `sudo chown -R "$USER" ${word}` };
  }
  if ((stats.mode & 0o022) === 0) return undefined;
  const fault = `other users may write to ${path} (mode ${modeText(stats.mode)})`;
  return { fault, fix: `chmod ${stats.isDirectory() ? 700 : 600} ${word}` };
}

/** Why others can read what is there, and the command that mends it. */
export function strangersLook(path: string, stats: Owned): { fault: string; fix: string } | undefined {
  if (process.getuid === undefined || (stats.mode & 0o077) === 0) return undefined;
  const fault = `other users may read ${path} (mode ${modeText(stats.mode)})`;
  return { fault, fix: `chmod ${stats.isDirectory() ? 700 : 600} ${shellWord(path)}` };
}

/** Throws where others decide what is there. */
export function checkOurs(path: string, stats: Owned): void {
  const found = strangersRight(path, stats);
  if (found !== undefined) throw new Failure(found.fault, found.fix);
}

/** `0777` */
export function modeText(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, "0");
}
