// Who starts a server that runs as another user: the launcher of that user, where `mcpx service install --run-as` has made
// one. Nothing where it is our own user. [B-KEY-3]
import { join } from "node:path";
import type { Launcher } from "@mcpx/aggregator";
import { localUser } from "../files/local-store.ts";
import type { Surroundings } from "../framework/command.ts";

export function launcherFor(user: string | undefined, env: Surroundings["env"]): Launcher | undefined {
  if (user === undefined || user === localUser()) return undefined;
  const dir = env.MCPX_LAUNCHERS;
  return { user, socket: dir === undefined || dir === "" ? undefined : join(dir, `${user}.sock`) };
}
