// Where a command is, as the system would look for it.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, resolve } from "node:path";

export type FoundCommand = { path: string } | "missing" | "not executable";

export function findCommand(
  command: string,
  { path = "", cwd }: { path: string | undefined; cwd: string },
): FoundCommand {
  const isPath = isAbsolute(command) || command.includes("/");
  const places = isPath
    ? [resolve(cwd, command)]
    : path
        .split(delimiter)
        .filter((dir) => dir !== "")
        .map((dir) => resolve(cwd, dir, command));
  const files = places.filter((place) => statSync(place, { throwIfNoEntry: false })?.isFile());
  const found = files.find(isExecutable);
  if (found !== undefined) return { path: found };
  return files.length > 0 ? "not executable" : "missing";
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
