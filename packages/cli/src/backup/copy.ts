// Copies a data directory, also under a running gateway: its stores consistently, and every file that is needed to go
// on. The copy appears all at once or not at all.
import { createHash, hash } from "node:crypto";
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { syncDirectory } from "@mcpx/host";
import { checkDirectory } from "../files/data-dir-rights.ts";
import { Failure } from "../framework/failure.ts";
import { type FoundFiles, findFiles, type LeftOut, listFile, storeFiles } from "./files.ts";
import { type ListedFile, listText } from "./list.ts";

export interface Copied {
  files: ListedFile[];
  left: LeftOut[];
}

/** In one step: between steps another process may write, and then the copying would begin anew, perhaps for ever. */
const allPages = 2 ** 31 - 1;
const chunkBytes = 1_048_576;
const configFile = "mcpx.json";

/** The configuration that counts, wherever it is. */
export interface CopiedConfig {
  path: string;
  /** What is in force of it, where the file says something else. */
  text?: string;
}

export async function copyDataDir(
  dataDir: string,
  target: string,
  config: CopiedConfig | undefined,
): Promise<Copied> {
  const configPath = config?.path;
  checkDirectory(dataDir);
  const present = storeFiles.filter((file) => existsSync(join(dataDir, file)));
  if (present.length === 0) {
    throw new Failure(`there is nothing to copy in ${dataDir}`, "run mcpx up first, or give --data DIR");
  }
  if (existsSync(target) && !isEmptyDir(target)) {
    throw new Failure(`${target} exists already`, "choose a new directory; nothing is ever overwritten");
  }
  // Before there is a copy, which may come to lie within.
  const { files: others, left } = withoutConfig(findFiles(dataDir), dataDir, configPath);
  const draft = `${target}.part-${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    const files: ListedFile[] = [];
    for (const file of present) files.push({ file, bytes: await copyStore(dataDir, draft, file) });
    if (config !== undefined) files.push(...copyConfig(config, draft));
    for (const file of others) files.push(...copyFile(join(dataDir, file), draft, file));
    const isElsewhere = configPath !== undefined && configPath !== join(dataDir, configFile);
    const list = { madeAt: new Date().toISOString(), ...(isElsewhere && { configFrom: configPath }), files };
    writeFileSync(join(draft, listFile), listText(list), { mode: 0o600, flag: "wx", flush: true });
    renameSync(draft, target);
    syncDirectory(dirname(target));
    return { files, left };
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** The configuration that counts is copied by itself; another does not count. */
function withoutConfig(found: FoundFiles, dataDir: string, configPath: string | undefined): FoundFiles {
  const isThere = [...found.files, ...found.left.map(({ file }) => file)].includes(configFile);
  const doesCount = configPath === join(dataDir, configFile);
  const why = configPath === undefined ? "its link leads nowhere" : "another configuration is used";
  return {
    files: found.files.filter((file) => file !== configFile),
    left: [
      ...found.left.filter(({ file }) => file !== configFile),
      ...(isThere && !doesCount ? [{ file: configFile, why }] : []),
    ],
  };
}

function copyConfig({ path, text }: CopiedConfig, draft: string): ListedFile[] {
  if (text === undefined) return copyFile(path, draft, configFile, true);
  const bytes = Buffer.from(text);
  writeFileSync(join(draft, configFile), bytes, { mode: 0o600, flag: "wx", flush: true });
  return [{ file: configFile, bytes: bytes.length, sha256: hash("sha256", bytes, "hex") }];
}

/** With its mode. Nothing where it is gone meanwhile. A link is followed to the configuration only, as the gateway does. */
function copyFile(source: string, draft: string, file: string, mayBeLink = false): ListedFile[] {
  const from = openToRead(source, mayBeLink);
  if (from === undefined) return [];
  try {
    const { mode } = fstatSync(from);
    const path = join(draft, file);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const to = openSync(path, "wx", 0o600);
    try {
      const copied = pour(from, to);
      fchmodSync(to, mode & 0o777);
      fsyncSync(to);
      return [{ file, ...copied }];
    } finally {
      closeSync(to);
    }
  } finally {
    closeSync(from);
  }
}

function openToRead(path: string, mayBeLink: boolean): number | undefined {
  // Opening a pipe that was put there meanwhile would wait for ever.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (mayBeLink ? 0 : constants.O_NOFOLLOW);
  let file: number;
  try {
    file = openSync(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !mayBeLink) return undefined;
    throw new Failure(`${path} cannot be read (${code})`, "check who owns it; nothing was copied");
  }
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw new Failure(`${path} is not a file`, "nothing was copied");
}

function pour(from: number, to: number): { bytes: number; sha256: string } {
  const sha256 = createHash("sha256");
  const chunk = Buffer.alloc(chunkBytes);
  let bytes = 0;
  for (let count = readSync(from, chunk); count > 0; count = readSync(from, chunk)) {
    const part = chunk.subarray(0, count);
    sha256.update(part);
    for (let done = 0; done < count; ) done += writeSync(to, part, done);
    bytes += count;
  }
  return { bytes, sha256: sha256.digest("hex") };
}

async function copyStore(dataDir: string, draft: string, file: string): Promise<number> {
  const path = join(draft, file);
  // SQLite would make it readable for others.
  closeSync(openSync(path, "wx", 0o600));
  const source = new DatabaseSync(join(dataDir, file), { readOnly: true, timeout: 5_000 });
  try {
    await backup(source, path, { rate: allPages });
  } finally {
    source.close();
  }
  const copy = new DatabaseSync(path);
  try {
    // One file that needs no companions to be read.
    copy.exec("PRAGMA journal_mode = DELETE");
    if (file === "topics.db") renewEpoch(copy);
  } finally {
    copy.close();
  }
  return statSync(path).size;
}

/**
 * A copy is a new store: what is said after it gets numbers that meant something else to those who were there, so
 * that resuming by them must be refused rather than leave a silent gap.
 */
function renewEpoch(topics: DatabaseSync): void {
  topics.exec("UPDATE meta SET value = lower(hex(randomblob(8))) WHERE name = 'epoch'");
}

function isEmptyDir(path: string): boolean {
  return statSync(path).isDirectory() && readdirSync(path).length === 0;
}
