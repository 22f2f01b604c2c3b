// Copies the stores of a data directory, consistently, also under a running gateway. The copy appears all at once
// or not at all.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { Failure } from "./failure.ts";

export const storeFiles = ["state.db", "topics.db"] as const;

export interface CopiedFile {
  file: string;
  bytes: number;
}

/** In one step: between steps another process may write, and then the copying would begin anew, perhaps for ever. */
const allPages = 2 ** 31 - 1;

export async function copyStores(dataDir: string, target: string): Promise<CopiedFile[]> {
  const present = storeFiles.filter((file) => existsSync(join(dataDir, file)));
  if (present.length === 0) {
    throw new Failure(`there is nothing to copy in ${dataDir}`, "run mcpx up first, or give --data DIR");
  }
  if (existsSync(target) && !isEmptyDir(target)) {
    throw new Failure(`${target} exists already`, "choose a new directory; nothing is ever overwritten");
  }
  const draft = `${target}.part-${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    const files: CopiedFile[] = [];
    for (const file of present) files.push({ file, bytes: await copyStore(dataDir, draft, file) });
    renameSync(draft, target);
    syncDir(dirname(target));
    return files;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
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

function syncDir(path: string): void {
  const fd = openSync(path, "r");
  fsyncSync(fd);
  closeSync(fd);
}
