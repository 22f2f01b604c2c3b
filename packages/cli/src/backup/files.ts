// What of a data directory is copied as it is, beside its stores: every file that somebody needs to go on with. What
// is only true of this run is not, and no link is followed.
import { type Dirent, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../framework/failure.ts";

export const storeFiles = ["state.db", "topics.db"] as const;
/** The list of what is in a backup, in it. */
export const listFile = "backup.json";

export interface LeftOut {
  file: string;
  why: string;
}

export interface FoundFiles {
  /** Relative to the data directory, with `/` between. */
  files: string[];
  left: LeftOut[];
}

const filesMax = 20_000;
const depthMax = 16;

/** Of one run: the lock, where the gateway is, SQLite's companions, drafts that were never finished. */
const passing = [
  /^gateway\.lock(-journal)?$/,
  /^gateway\.json(\.\d+)?$/,
  /^(state|topics)\.db(-(wal|shm|journal))?$/,
  /^backup\.json$/,
];
const drafts = [/\.\d{1,10}\.tmp$/, /\.draft$/, /\.part-\d{1,10}$/];

export function findFiles(dataDir: string): FoundFiles {
  const found: FoundFiles = { files: [], left: [] };
  look(dataDir, "", found);
  return found;
}

function look(dataDir: string, under: string, found: FoundFiles): void {
  const entries = readdirSync(join(dataDir, under), { withFileTypes: true });
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = `${under}${entry.name}`;
    if (drafts.some((form) => form.test(entry.name)) || passing.some((form) => form.test(file))) continue;
    const why = reasonAgainst(entry, join(dataDir, file));
    if (why !== undefined) found.left.push({ file, why });
    else if (entry.isDirectory()) look(dataDir, `${file}/`, found);
    else found.files.push(file);
    checkBounds(dataDir, file, found);
  }
}

function reasonAgainst(entry: Dirent, path: string): string | undefined {
  if (entry.isSymbolicLink()) return "a link";
  if (entry.isDirectory()) return isStoreDir(path) ? "a backup or another data directory" : undefined;
  return entry.isFile() ? undefined : "not a file";
}

function isStoreDir(path: string): boolean {
  return [listFile, ...storeFiles].some((file) => existsSync(join(path, file)));
}

function checkBounds(dataDir: string, file: string, { files, left }: FoundFiles): void {
  if (files.length + left.length <= filesMax && file.split("/").length <= depthMax) return;
  throw new Failure(
    `there is more in ${dataDir} than a gateway keeps there`,
    "keep other files elsewhere; see mcpx up --help for --data DIR",
  );
}
