// The data directory: ours alone, writable, with room.
import { accessSync, constants, existsSync, type Stats, statfsSync, statSync } from "node:fs";
import { dataDirFaults } from "../files/data-dir-rights.ts";
import { shellWord } from "../framework/show-change.ts";
import { type Check, type Finding, fault, ok, warning } from "./finding.ts";

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
    const found = [...judgeRights(dataDir, stats), ...judgeSpace(dataDir, bavail * bsize)];
    return found.length > 0 ? found : [ok(about, dataDir)];
  },
};

function judgeRights(dir: string, stats: Stats): Finding[] {
  if (!stats.isDirectory())
    return [fault(about, `${dir} is not a directory`, "choose another with --data DIR")];
  const word = shellWord(dir);
  const isReadable = (stats.mode & 0o055) !== 0 && (stats.mode & 0o022) === 0;
  const found = [
    ...(isReadable ? [warning(about, `others may look into ${dir}`, `chmod 700 ${word}`)] : []),
    ...dataDirFaults(dir).map(({ fault: text, fix }) => fault(about, text, fix)),
  ];
  try {
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    found.push(fault(about, `${dir} cannot be written`, `chmod 700 ${word}`));
  }
  return found;
}

function judgeSpace(dir: string, freeBytes: number): Finding[] {
  if (freeBytes >= freeBytesGood) return [];
  const text = `${Math.floor(freeBytes / mebibyte)} MiB are free where ${dir} is`;
  const fix = "make room there, or choose another place with --data DIR";
  return [freeBytes < freeBytesMin ? fault(about, text, fix) : warning(about, text, fix)];
}
