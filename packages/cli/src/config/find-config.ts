// Which configuration counts, and what of it. A file that lies in the working directory is somebody else's until it
// was accepted: it says which programs are started.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkDirectory } from "../files/data-dir-rights.ts";
import { readWhole } from "../files/replace-file.ts";
import { Failure } from "../framework/failure.ts";
import { type AcceptedFile, acceptedFile, placeOf, recordPath } from "./accepted-files.ts";

export interface ConfigPlaces {
  /** `--config`. */
  given: string | undefined;
  cwd: string;
  dataDir: string;
  /** `--trusted`, or where a running gateway found it: that file and no other, as it was accepted. */
  trusted?: string | undefined;
}

/** What lies there, read once. */
export type FoundConfig =
  /** Named by its user, or the data directory's own: it counts as it is. */
  | { kind: "ours"; path: string; text: string }
  /** It counts as it was accepted, where it was. */
  | { kind: "elsewhere"; path: string; text: string; accepted: AcceptedFile | undefined };

const fileName = "mcpx.json";

/** Where a configuration is looked for; the first that is there counts. */
export function configPlaces({ given, cwd, dataDir, trusted }: ConfigPlaces): string[] {
  if (given !== undefined) return [resolve(cwd, given)];
  return trusted === undefined ? [join(cwd, fileName), join(dataDir, fileName)] : [resolve(cwd, trusted)];
}

/** The places, and the records that say what of them is accepted: whose change may be a change of the configuration. */
export function watchedPlaces(places: ConfigPlaces): string[] {
  const paths = configPlaces(places);
  const counted = paths.filter((path) => places.given === undefined && !isOwn(path, places));
  return [...paths, ...counted.map((path) => recordPath(places.dataDir, path))];
}

/** `undefined` where there is none. */
export function findConfig(places: ConfigPlaces): FoundConfig | undefined {
  const { given, trusted, dataDir } = places;
  const isNamed = given !== undefined || trusted !== undefined;
  const path = configPlaces(places).find((place) => isNamed || existsSync(place));
  if (path === undefined) return undefined;
  // A user who can write to that directory could have written the file.
  if (given === undefined) checkDirectory(dataDir);
  if (given !== undefined || isOwn(path, places)) return { kind: "ours", path, text: readNamed(path) };
  const place = placeOf(path);
  const file = readWhole(place);
  if (file === undefined) throw new Failure(`the configuration ${place} is no longer there`);
  return {
    kind: "elsewhere",
    path: place,
    text: `${file.bom}${file.text}`,
    accepted: acceptedFile(dataDir, place),
  };
}

/** Whether it is the data directory's, however that was reached. */
export function isOwn(path: string, { dataDir }: Pick<ConfigPlaces, "dataDir">): boolean {
  return placeOf(path) === placeOf(join(dataDir, fileName));
}

/** A pipe too, where the user has named one. */
function readNamed(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`the configuration ${path} cannot be read (${code})`, "check --config");
  }
}
