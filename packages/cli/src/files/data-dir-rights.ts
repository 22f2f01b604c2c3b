// That the data directory is ours alone: a user who can write into it is an approver, an issuer of tokens and the
// author of the configuration; a user who can read its keys can act as the gateway.
import { chmodSync, lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { join, sep } from "node:path";
import { Failure } from "../framework/failure.ts";
import { modeText, strangersLook, strangersRight } from "./own-file.ts";

export interface RightsFault {
  fault: string;
  fix: string;
}

/** Where secrets are, and what says who may do what. The configuration may be a link: it is its user's to place. */
const stores = /^((state|topics)\.db(-wal|-shm|-journal)?|gateway\.(json|lock)(-journal)?)$/;
const folders = ["approvers", "certs", "connections", "credentials", "keys", "trusted"];
/** Folders whose every file is a secret. */
const secretFolders = ["credentials", "keys"];
const filesMax = 10_000;

/**
 * Throws where the directory, or what is in it, is not ours alone. What has harmed nobody yet is mended and told: an
 * empty directory that others could have written to, and files that others could have read but for the directory.
 * Without `tell` nothing is mended.
 */
export function checkDataDir(dataDir: string, tell?: (line: string) => void): void {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (tell !== undefined && mayClose(dataDir, stats)) {
    chmodSync(dataDir, 0o700);
    tell(
      `the data directory ${dataDir} was open to others (mode ${modeText(stats.mode)}); only this user may now`,
    );
  }
  checkDirectory(dataDir);
  for (const one of fileFaults(dataDir)) {
    if (one.mend === undefined) throw new Failure(`the data directory is not safe: ${one.fault}`, one.fix);
    if (tell === undefined) continue;
    one.mend();
    tell(`${one.fault}, although the directory kept them out; corrected: only this user may now`);
  }
}

/** Throws where others may put files into it; where there is none, nobody may. */
export function checkDirectory(dataDir: string): void {
  const stats = statSync(dataDir, { throwIfNoEntry: false });
  const [first] = stats === undefined ? [] : directoryFaults(dataDir, stats);
  if (first !== undefined) throw new Failure(`the data directory is not safe: ${first.fault}`, first.fix);
}

/** For those who only look. */
export function dataDirFaults(dataDir: string): RightsFault[] {
  return [...directoryFaults(dataDir, statSync(dataDir)), ...fileFaults(dataDir)];
}

function mayClose(dataDir: string, stats: Stats): boolean {
  const isOurs = stats.isDirectory() && stats.uid === process.getuid?.();
  return isOurs && (stats.mode & 0o022) !== 0 && readdirSync(dataDir).length === 0;
}

function directoryFaults(dataDir: string, stats: Stats): RightsFault[] {
  const found = strangersRight(dataDir, stats);
  if (found === undefined) return [];
  const elsewhere = "or choose a directory of your own with --data DIR";
  return [{ fault: found.fault, fix: `look for files that are not yours, then ${found.fix}, ${elsewhere}` }];
}

interface FileFault extends RightsFault {
  /** Where nobody can have used it: what makes it good. */
  mend?: () => void;
}

function fileFaults(dataDir: string): FileFault[] {
  // Who cannot enter the directory reads nothing in it.
  const isShut = (statSync(dataDir).mode & 0o011) === 0;
  const inside = readdirSync(dataDir).flatMap((name): [string, "store" | "folder"][] =>
    stores.test(name) ? [[name, "store"]] : folders.includes(name) ? [[name, "folder"]] : [],
  );
  return inside.flatMap(([name, kind]) => {
    const path = join(dataDir, name);
    const faults = judge(path, dataDir, { isShut, isSecret: kind === "store" });
    if (faults.length > 0 || !secretFolders.includes(name) || !statSync(path).isDirectory()) return faults;
    return readdirSync(path)
      .slice(0, filesMax)
      .flatMap((file) => judge(join(path, file), dataDir, { isShut, isSecret: true }));
  });
}

function judge(
  path: string,
  dataDir: string,
  { isShut, isSecret }: { isShut: boolean; isSecret: boolean },
): FileFault[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isSymbolicLink()) return leadsOut(path, dataDir);
  const written = strangersRight(path, stats);
  if (written !== undefined && !isShut) return [written];
  const read = isSecret ? (strangersLook(path, stats) ?? written) : written;
  if (read === undefined) return [];
  const isOurs = stats.uid === process.getuid?.();
  const mode = stats.isDirectory() ? 0o700 : 0o600;
  return [{ ...read, ...(isShut && isOurs && { mend: () => chmodSync(path, mode) }) }];
}

function leadsOut(path: string, dataDir: string): FileFault[] {
  let target: string | undefined;
  try {
    target = realpathSync(path);
  } catch {
    target = undefined;
  }
  if (target?.startsWith(`${realpathSync(dataDir)}${sep}`)) return [];
  const to = target === undefined ? "nowhere" : `to ${target}`;
  return [
    {
      fault: `${path} is a link that leads out of it, ${to}`,
      fix: "put the file itself there; the whole directory may be a link",
    },
  ];
}
