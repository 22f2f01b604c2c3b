// What a configuration would say with a server more or less: by `mcpx add`, `mcpx remove` and the console. Nothing is
// written here.

import { parseConfig } from "../config/config.ts";
import { Failure } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";
import {
  type ConfigFile,
  type ServerEntry,
  segmentsOf,
  shownSecrets,
  withoutServer,
  withServers,
} from "./edit-config.ts";

export interface Replacing {
  /** It may take the place of the server of that name. */
  replace: boolean;
}

export function withNewServer(
  file: ConfigFile,
  name: string,
  entry: ServerEntry,
  { replace }: Replacing,
): { text: string; isThere: boolean } {
  const isThere = segmentsOf(file.config).has(name);
  if (isThere && !replace) {
    const fix = "replace it with --replace, or choose another name";
    throw new Failure(`there is a server ${name} in ${file.path} already`, fix);
  }
  return { text: withServers(file, new Map([[name, entry]])), isThere };
}

export function withoutKnownServer(file: ConfigFile, name: string): string {
  const names = [...segmentsOf(file.config).keys()];
  if (!names.includes(name)) {
    const known = names.length === 0 ? "it has none" : `it has ${names.join(", ")}`;
    throw new Failure(`there is no server ${name} in ${file.path}`, suggestion(name, names) ?? known);
  }
  return withoutServer(file, name);
}

/** Those of the file as it is, and as it would be. */
export function secretsOfChange(file: ConfigFile, text: string): string[] {
  return [file.config, parseConfig(text, file.path)].flatMap(shownSecrets);
}
