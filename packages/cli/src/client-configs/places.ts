// Where programs of this system keep what belongs to a user. Pure: nothing is read, paths are only put together.
import { posix, win32 } from "node:path";
import type { ClientWorld } from "./client.ts";

/** Joins as that system does, whichever this one is. */
export function joinAt({ platform }: ClientWorld, ...parts: string[]): string {
  return (platform === "win32" ? win32 : posix).join(...parts);
}

export function isAbsoluteAt({ platform }: ClientWorld, path: string): boolean {
  return (platform === "win32" ? win32 : posix).isAbsolute(path);
}

/** The directory of applications' settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`. */
export function settingsDir(world: ClientWorld): string {
  const { env, home, platform } = world;
  if (platform === "win32") return env.APPDATA || joinAt(world, home, "AppData", "Roaming");
  if (platform === "darwin") return joinAt(world, home, "Library", "Application Support");
  const { XDG_CONFIG_HOME: base = "" } = env;
  return isAbsoluteAt(world, base) ? base : joinAt(world, home, ".config");
}
