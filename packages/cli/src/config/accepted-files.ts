// The configurations of other directories that somebody has accepted: a file for each in `trusted/` of the data
// directory, with the very text that was accepted. That text is in force until another is accepted.
import { hash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isObject } from "@mcpx/protocol";
import { makeDataDir } from "../files/data-dir.ts";
import { checkOurs } from "../files/own-file.ts";
import { readWhole, replaceFile } from "../files/replace-file.ts";
import { Failure } from "../framework/failure.ts";

export interface AcceptedFile {
  /** As `placeOf` writes it. */
  path: string;
  /** All of it, with the mark some editors put first. */
  text: string;
  sha256: string;
  /** ISO 8601. */
  acceptedAt: string;
}

const dirName = "trusted";

/**
 * The directory by its real path, and the name in it. The file itself may be a link: relative paths in it begin in
 * this directory all the same, so that a link to an accepted file from elsewhere is another file.
 */
export function placeOf(path: string): string {
  const whole = resolve(path);
  try {
    return join(realpathSync(dirname(whole)), basename(whole));
  } catch {
    return whole;
  }
}

export function sha256Of(text: string): string {
  return hash("sha256", text, "hex");
}

/** Where the record of an accepted file is, whether or not there is one. */
export function recordPath(dataDir: string, path: string): string {
  return join(dataDir, dirName, `${sha256Of(placeOf(path)).slice(0, 32)}.json`);
}

/** `undefined` where it was never accepted. Throws where others could have written what stands there. */
export function acceptedFile(dataDir: string, path: string): AcceptedFile | undefined {
  const record = readRecord(dataDir, recordPath(dataDir, path));
  return record?.path === placeOf(path) ? record : undefined;
}

/** A gateway makes it before it watches it: the first acceptance may come while it runs. */
export function makeAcceptedDir(dataDir: string): void {
  const dir = join(dataDir, dirName);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  checkDir(dir);
}

/** From now on this text is in force, whatever the file says. */
export function acceptFile(dataDir: string, path: string, text: string, now: Date): AcceptedFile {
  makeDataDir(dataDir);
  makeAcceptedDir(dataDir);
  const accepted = {
    path: placeOf(path),
    sha256: sha256Of(text),
    acceptedAt: now.toISOString(),
    text,
  };
  const record = recordPath(dataDir, path);
  replaceFile(record, `${JSON.stringify(accepted)}\n`, 0o600, readWhole(record));
  return accepted;
}

/** Whether there was one. */
export function forgetFile(dataDir: string, path: string): boolean {
  const record = recordPath(dataDir, path);
  const isThere = lstatSync(record, { throwIfNoEntry: false }) !== undefined;
  rmSync(record, { force: true });
  return isThere;
}

export function acceptedFiles(dataDir: string): AcceptedFile[] {
  const dir = join(dataDir, dirName);
  if (!checkDir(dir)) return [];
  return readdirSync(dir)
    .filter((name) => name.endsWith(".json"))
    .flatMap((name) => readRecord(dataDir, join(dir, name)) ?? [])
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Whether it is there; throws where it is not ours alone. */
function checkDir(dir: string): boolean {
  const stats = lstatSync(dir, { throwIfNoEntry: false });
  if (stats === undefined) return false;
  if (!stats.isDirectory()) throw new Failure(`${dir} is not a directory`, "remove it");
  checkOurs(dir, stats);
  return true;
}

function readRecord(dataDir: string, record: string): AcceptedFile | undefined {
  if (!checkDir(join(dataDir, dirName))) return undefined;
  let file: number;
  try {
    // No link is followed: what it leads to may be anybody's.
    file = openSync(record, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    throw damaged(record, `it cannot be read (${code})`);
  }
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw damaged(record, "it is not a file");
    checkOurs(record, stats);
    return parsed(readFileSync(file, "utf8"), record);
  } finally {
    closeSync(file);
  }
}

function parsed(json: string, record: string): AcceptedFile {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw damaged(record, "it is not JSON");
  }
  const { path, text, sha256, acceptedAt } = isObject(value) ? value : {};
  if (typeof path !== "string" || typeof text !== "string" || typeof acceptedAt !== "string") {
    throw damaged(record, "it is not what mcpx trust writes");
  }
  if (sha256 !== sha256Of(text)) throw damaged(record, "its text is not the one that was accepted");
  return { path, text, sha256, acceptedAt };
}

function damaged(record: string, why: string): Failure {
  return new Failure(
    `${record}, the record of an accepted configuration, is damaged: ${why}`,
    "remove that file and run mcpx trust FILE again",
  );
}
