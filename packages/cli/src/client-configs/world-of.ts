// The machine as `mcpx` finds it, for those who look for clients' files.
import { homedir } from "node:os";
import type { Context } from "../framework/command.ts";
import type { ClientWorld } from "./client.ts";

/** Where clients keep their files is computed from this alone. */
export function worldOf({ env, cwd }: Pick<Context, "env" | "cwd">): ClientWorld {
  const { platform } = process;
  return { env, cwd, platform, home: (platform === "win32" ? env.USERPROFILE : env.HOME) || homedir() };
}
