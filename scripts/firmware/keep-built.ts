// What compilers have made, kept by the content of what it was made from: outside the sources, in a directory of this
// user alone, until the machine clears its temporary files.
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import {
  access,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

const firmware = join(import.meta.dirname, "..", "..", "firmware");

export interface Recipe {
  compiler: string;
  /** All that the result depends on besides firmware/: flags, the names of sources, the text of others. */
  words: readonly string[];
  /** Of other packages, whose version counts. */
  headers?: readonly string[] | undefined;
}

/** Where it is; `build` puts it into an empty directory, once for the same recipe. */
export async function keepBuilt(
  recipe: Recipe,
  build: (directory: string) => Promise<unknown>,
): Promise<string> {
  const shelf = await ownShelf();
  const kept = join(shelf, await keyOf(recipe));
  if (await isWhole(kept)) return kept;
  const making = await mkdtemp(join(shelf, "making-"));
  try {
    await build(making);
    await writeFile(join(making, countFile), String(await countIn(making)));
    await putInPlace(making, kept);
    return kept;
  } finally {
    await rm(making, { recursive: true, force: true });
  }
}

/** Nobody else may have put anything there. */
async function ownShelf(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const shelf = join(tmpdir(), `mcpx-built-${uid}`);
  await mkdir(shelf, { mode: 0o700, recursive: true });
  const found = await lstat(shelf);
  const isOurs = found.isDirectory() && found.uid === uid && (found.mode & 0o077) === 0;
  if (!isOurs) throw new Error(`${shelf} is not ours alone; remove it`);
  return shelf;
}

async function keyOf({ compiler, words, headers = [] }: Recipe): Promise<string> {
  const hash = createHash("sha256");
  const add = (part: string | Buffer) => hash.update(`${part.length}:`).update(part);
  const sources = await readdir(firmware, { recursive: true, withFileTypes: true });
  const files = sources.filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name));
  for (const file of files.sort()) add(file).update(await readFile(file));
  add(await identityOf(compiler));
  for (const word of words) add(word);
  for (const header of headers) add(await versionOf(header));
  return hash.digest("hex").slice(0, 32);
}

/** Another version is another file. One that is missing is for the compiler to complain of. */
async function versionOf(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return `${path} ${found?.size} ${found?.mtimeMs}`;
}

async function identityOf(program: string): Promise<string> {
  for (const directory of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(directory, program);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return versionOf(path);
  }
  throw new Error(`${program} is not installed`);
}

const countFile = "count";

async function countIn(directory: string): Promise<number> {
  return (await readdir(directory, { recursive: true })).filter((name) => name !== countFile).length;
}

/** Whoever clears temporary files may have taken some of them. */
async function isWhole(kept: string): Promise<boolean> {
  try {
    const count = await readFile(join(kept, countFile), "utf8");
    if (count === String(await countIn(kept))) return true;
    await rm(kept, { recursive: true, force: true });
    return false;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

/** Somebody who made the same meanwhile is as good. */
async function putInPlace(making: string, kept: string): Promise<void> {
  try {
    await rename(making, kept);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOTEMPTY" && code !== "EEXIST") throw error;
  }
}
