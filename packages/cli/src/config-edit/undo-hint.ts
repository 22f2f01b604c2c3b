// How a person takes back what we have just written.
import { shellWord } from "../framework/show-change.ts";
import type { ConfigFile } from "./edit-config.ts";

export function undoHint(
  program: string,
  name: string,
  { path, accepted }: Pick<ConfigFile, "path" | "accepted">,
  backup: string | undefined,
): string {
  if (backup === undefined) return `undo: ${program} remove ${shellWord(name)}`;
  // Put back by hand, it has to be looked at again.
  const again = accepted === undefined ? "" : ` && ${program} trust ${shellWord(path)}`;
  return `undo: mv ${shellWord(backup)} ${shellWord(path)}${again}`;
}
