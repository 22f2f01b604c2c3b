// The data directory: ours alone, writable, with room.
import { accessSync, constants, existsSync, readdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { shellWord } from "../show-change.ts";
import { type Check, type Finding, fault, ok, some, warning } from "./finding.ts";

const about = "data";
const mebibyte = 1_048_576;
const freeBytesMin = 10 * mebibyte;
const freeBytesGood = 200 * mebibyte;

export const dataDirectory: Check = {
  name: about,
  run({ dataDir }) {
    if (!existsSync(dataDir)) return [ok(about, `${dataDir} is made by the first start`, "mcpx up")];
    const stats = statSync(dataDir);
    const { bavail, bsize } = statfsSync(dataDir);
    const found = [
      ...judgeRights(dataDir, stats, process.getuid?.()),
      ...judgeFiles(dataDir),
      ...judgeSpace(dataDir, bavail * bsize),
    ];
    return found.length > 0 ? found : [ok(about, dataDir)];
  },
};

function judgeRights(dir: string, stats: Stats, uid: number | undefined): Finding[] {
  if (!stats.isDirectory())
    return [fault(about, `${dir} is not a directory`, "choose another with --data DIR")];
  const found: Finding[] = [];
  const word = shellWord(dir);
  if (uid !== undefined && uid !== 0 && stats.uid !== uid) {
    found.push(fault(about, `${dir} belongs to another user`, `sudo chown -R "$USER" ${word}`));
  }
  const { mode } = stats;
  const isSticky = (mode & 0o1000) !== 0;
  if ((mode & 0o022) !== 0 && !isSticky)
    found.push(fault(about, `others may write into ${dir}`, `chmod 700 ${word}`));
  else if ((mode & 0o077) !== 0)
    found.push(warning(about, `others may look into ${dir}`, `chmod 700 ${word}`));
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    found.push(fault(about, `${dir} cannot be written`, `chmod 700 ${word}`));
  }
  return found;
}

/** Keys and tokens are in there. */
function judgeFiles(dir: string): Finding[] {
  let names: string[];
  try {
    names = readdirSync(dir).filter((name) => /\.(db|db-wal|db-shm)$|^gateway\./.test(name));
  } catch {
    return [];
  }
  const open = names.filter((name) => {
    const stats = statSync(join(dir, name), { throwIfNoEntry: false });
    return stats !== undefined && (stats.mode & 0o077) !== 0;
  });
  if (open.length === 0) return [];
  const paths = open.map((name) => shellWord(join(dir, name))).join(" ");
  return [fault(about, `others may read ${some(open)}`, `chmod 600 ${paths}`)];
}

function judgeSpace(dir: string, freeBytes: number): Finding[] {
  if (freeBytes >= freeBytesGood) return [];
  const text = `${Math.floor(freeBytes / mebibyte)} MiB are free where ${dir} is`;
  const fix = "make room there, or choose another place with --data DIR";
  return [freeBytes < freeBytesMin ? fault(about, text, fix) : warning(about, text, fix)];
}
