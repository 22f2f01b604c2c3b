// Where the state of a data directory is: in its own files, or in the PostgreSQL that `store.json` beside them names.
// The gateway writes it once it has used the store; every command reads it, so that none works on another's state.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "@mcpx/host";
import { isObject } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";
import { readWhole } from "./replace-file.ts";

/** A data directory, and what fills in the references in its files. */
export interface Home {
  dataDir: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Where the command was typed: a configuration there may say where the state is. */
  cwd?: string;
  /** The one that was named instead. */
  configFile?: string | undefined;
}

/** As the configuration has it: what is secret may be a reference. */
export interface StoreWish {
  address: string;
  /** What secrets in the store are sealed with; `store.key` of the data directory unless given. */
  key?: string | undefined;
  /** The directory from which relative paths are resolved. */
  dir: string;
}

export interface StatePlace extends StoreWish {
  /** Whose state it is: another gateway's at the same address is refused. */
  gatewayId: string;
}

const placeFile = "store.json";

/** `undefined` where the state is in files, or nowhere yet. */
export function readStatePlace(dataDir: string): StatePlace | undefined {
  const path = join(dataDir, placeFile);
  const file = readWhole(path);
  if (file === undefined) return undefined;
  const { address, key, dir, gatewayId } = fieldsOf(file.text);
  const isWhole = [address, dir, gatewayId].every((field) => typeof field === "string");
  if (isWhole) return { address, key, dir, gatewayId } as StatePlace;
  throw new Failure(`${path} does not say where the state is`, "restore it from a backup of the directory");
}

function fieldsOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

export function writeStatePlace(dataDir: string, place: StatePlace): void {
  writeWhole(join(dataDir, placeFile), `${JSON.stringify(place, undefined, 2)}\n`);
}

/** Whether a gateway has kept anything for this directory. */
export function hasState(dataDir: string): boolean {
  return isInFiles(dataDir) || existsSync(join(dataDir, placeFile));
}

export function isInFiles(dataDir: string): boolean {
  return existsSync(join(dataDir, "state.db"));
}
