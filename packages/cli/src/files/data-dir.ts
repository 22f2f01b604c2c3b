// The data directory: where it is, and that nobody else may look into it.
import { accessSync, constants, existsSync, mkdirSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Surroundings } from "../framework/command.ts";
import { Failure } from "../framework/failure.ts";
import { checkDataDir } from "./data-dir-rights.ts";
import type { Home } from "./state-place.ts";

/** `--data`, else `$MCPX_DATA`, else the place the desktop standard names. */
export function dataDirOf(
  { env, cwd }: Pick<Surroundings, "env" | "cwd">,
  options: { data: string | undefined },
): string {
  const given = options.data ?? (env.MCPX_DATA || undefined);
  if (given !== undefined) return resolve(cwd, given);
  const { XDG_DATA_HOME: base = "" } = env;
  // The standard says that a relative path there does not count.
  return join(isAbsolute(base) ? base : join(env.HOME || homedir(), ".local", "share"), "mcpx");
}

/** The same, with what its references are filled in from. */
export function homeOf(
  place: Pick<Surroundings, "env" | "cwd">,
  options: { data: string | undefined },
): Home {
  return { dataDir: dataDirOf(place, options), env: place.env, cwd: place.cwd };
}

/** Approvers are in there unless all state is on PostgreSQL. */
export function approversDir(dataDir: string): string {
  return join(dataDir, "approvers");
}

/** Makes it where it is missing, and says whether it was. Throws where others have a hand in it. */
export function makeDataDir(path: string, tell = note): { isNew: boolean } {
  try {
    const isNew = makeDirs(path);
    if (!isNew) checkDataDir(path, tell);
    checkWritable(path);
    return { isNew };
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const fault =
      code === "EEXIST" || code === "ENOTDIR"
        ? `the data directory ${path} is not a directory`
        : `the data directory ${path} cannot be made (${code})`;
    throw new Failure(fault, "choose another with --data DIR", { cause: error });
  }
}

/** A read-only file system and missing rights are named here, not by the first file that is written. */
function checkWritable(path: string): void {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const user = process.getuid?.() ?? "this user";
    throw new Failure(
      `the data directory ${path} is read-only for user ${user} (${code})`,
      `give that user write access (chmod u+w ${path}), or choose another directory with --data DIR`,
      { cause: error },
    );
  }
}

/** For commands without a log: standard error holds no results. */
function note(line: string): void {
  process.stderr.write(`mcpx: ${line}\n`);
}

/** Not `recursive`: where the system says that a parent is missing that is there (/proc), that never ends. */
function makeDirs(path: string): boolean {
  if (existsSync(path)) {
    readdirSync(path);
    return false;
  }
  makeDirs(dirname(path));
  mkdirSync(path, { mode: 0o700 });
  return true;
}
