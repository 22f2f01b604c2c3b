// `backup.json`: what a backup consists of, so that what is missing or changed is noticed.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { listFile } from "./files.ts";

export interface ListedFile {
  file: string;
  bytes: number;
  /** Not of the stores, which have a check of their own. */
  sha256?: string;
}

export interface BackupList {
  madeAt: string;
  /** Where the configuration was, if it was elsewhere than in the data directory. */
  configFrom?: string;
  files: ListedFile[];
}

export function listText(list: BackupList): string {
  return `${JSON.stringify({ version: 1, ...list }, undefined, 2)}\n`;
}

/** `undefined` where there is none, as in backups of the stores alone that earlier versions made. */
export function readList(dir: string): ListedFile[] | undefined {
  const path = join(dir, listFile);
  if (!existsSync(path)) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (isObject(value) && Array.isArray(value.files) && value.files.every(isListed)) return value.files;
  } catch (error) {
    throw new Failure(`${path} cannot be read`, "use another backup", { cause: error });
  }
  throw new Failure(`${path} is not the list of a backup`, "use another backup");
}

function isListed(value: unknown): value is ListedFile {
  if (!isObject(value) || typeof value.file !== "string" || typeof value.bytes !== "number") return false;
  const isInside = value.file.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  return isInside && (value.sha256 === undefined || typeof value.sha256 === "string");
}
