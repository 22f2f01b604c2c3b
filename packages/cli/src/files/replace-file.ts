// Reading and replacing files of people: bounded, whole or not at all, with a copy of what was there before.
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { writeWhole } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";

export interface ReadFile {
  bytes: Buffer;
  /** Without the mark some editors put first; `bom` is that mark, or nothing. */
  text: string;
  bom: string;
  mode: number;
}

/** Some clients keep their whole history beside the servers. */
const fileBytesMax = 16 * 1024 * 1024;

/** The file, or `undefined` where there is none. Throws a failure that names it for everything else. */
export function readWhole(path: string): ReadFile | undefined {
  try {
    const stats = statSync(path);
    // Reading a pipe would wait for ever.
    if (!stats.isFile()) throw new Failure(`${path} is not a file`);
    if (stats.size > fileBytesMax) {
      throw new Failure(`${path} is too large: ${stats.size} bytes of at most ${fileBytesMax}`);
    }
    const bytes = readFileSync(path);
    const text = decode(bytes, path);
    const bom = text.startsWith("\ufeff") ? "\ufeff" : "";
    return { bytes, text: text.slice(bom.length), bom, mode: stats.mode & 0o777 };
  } catch (error) {
    if (error instanceof Failure) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if ((code === "ENOENT" || code === "ENOTDIR") && !isLink(path)) return undefined;
    const why =
      code === "ELOOP" ? "its links lead in a circle" : isLink(path) ? "its link leads nowhere" : code;
    throw new Failure(`${path} cannot be read (${why})`, undefined, { cause: error });
  }
}

function decode(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Failure(`${path} is not UTF-8 text`);
  }
}

/** A copy beside the file, as private as the file. */
export function backUp(path: string, { bytes, mode }: ReadFile, now: Date): string {
  const stamp = now.toISOString().replace(/[-:]|\.\d+/g, "");
  for (let count = 1; ; count += 1) {
    const copy = `${path}.${stamp}${count === 1 ? "" : `-${count}`}.bak`;
    try {
      writeFileSync(copy, bytes, { mode, flag: "wx" });
      return copy;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EEXIST" || count > 99) throw unwritable(copy, error);
    }
  }
}

/**
 * Writes a file so that readers see the old one or the new one, never half of it. Links stay links. `before` is what
 * was read: where the file is no longer that, somebody else wrote meanwhile and nothing is done.
 */
export function replaceFile(
  path: string,
  bytes: Buffer | string,
  mode: number,
  before: ReadFile | undefined,
): void {
  const target = before === undefined ? path : realpathSync(path);
  try {
    if (before === undefined) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    writeWhole(target, bytes, {
      mode,
      place(draft) {
        checkUnchanged(path, before);
        renameSync(draft, target);
      },
    });
  } catch (error) {
    throw error instanceof Failure ? error : unwritable(path, error);
  }
}

export function checkUnchanged(path: string, before: ReadFile | undefined): void {
  const now = readWhole(path);
  const isSame = now === undefined || before === undefined ? now === before : now.bytes.equals(before.bytes);
  if (!isSame)
    throw new Failure(`${path} was changed meanwhile, so it was left alone`, "run the command again");
}

function unwritable(path: string, error: unknown): Failure {
  const { code } = error as NodeJS.ErrnoException;
  return new Failure(`${path} cannot be written (${code})`, "check who owns it and its directory", {
    cause: error,
  });
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
