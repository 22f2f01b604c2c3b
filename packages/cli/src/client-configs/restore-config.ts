// Our configuration as it was before servers of a client came into it.
import { existsSync, rmSync } from "node:fs";
import { readWhole, replaceFile } from "../files/replace-file.ts";
import { type Connection, sha256Of } from "./connection.ts";

/** Whether it was put back: not where others wrote into it since. */
export function restoreConfig({ config, sha256, original }: NonNullable<Connection["moved"]>): boolean {
  if (original === undefined) return true;
  const now = readWhole(config);
  if (now === undefined || sha256Of(now.bytes) !== sha256) return false;
  if (original === null) {
    rmSync(config);
    return true;
  }
  const saved = existsSync(original) ? readWhole(original) : undefined;
  if (saved === undefined) return false;
  replaceFile(config, saved.bytes, saved.mode, now);
  rmSync(original, { force: true });
  return true;
}
