// Where a service is, and whose. Pure. [B-KEY-3]
import { join } from "node:path";
import { Failure, misuse } from "../framework/failure.ts";

export interface ServiceFacts {
  /** What is started, before its words. */
  program: readonly string[];
  user: string;
  /** Users that servers may run as. */
  runAs: readonly string[];
  dataDir: string;
  /** The file that makes it a service. */
  unitPath: string;
  /** What launchd calls it. */
  label: string;
  /** Everything is below it, and nothing is started; empty for this machine itself. */
  root: string;
  platform: "linux" | "darwin";
}

/** Where their sockets are; only root writes there. */
export const launchersDir = "/run/mcpx-launchers";
const userName = /^[a-z_][a-z0-9_-]{0,30}$/;

export interface ServiceWish {
  user: string | undefined;
  runAs?: readonly string[];
  root: string | undefined;
  platform: string;
  program: readonly string[];
}

export function serviceFacts(wish: ServiceWish): ServiceFacts {
  const { user = "mcpx", runAs = [], root = "", platform, program } = wish;
  for (const name of [user, ...runAs]) {
    if (userName.test(name) && name !== "root") continue;
    throw misuse(`${JSON.stringify(name)} cannot be the user of a service`, "use a name like mcpx");
  }
  if (platform !== "linux" && platform !== "darwin") {
    throw new Failure(
      `mcpx cannot install a service on ${platform}`,
      "run mcpx up as a user of its own there",
    );
  }
  const label = "io.mcpx.gateway";
  const isMac = platform === "darwin";
  const unitPath = isMac ? `/Library/LaunchDaemons/${label}.plist` : "/etc/systemd/system/mcpx.service";
  const dataDir = isMac ? "/usr/local/var/mcpx" : "/var/lib/mcpx";
  return { program, user, runAs: [...new Set(runAs)].sort(), dataDir, unitPath, label, root, platform };
}

/** Where a path of the service is, as seen from here. */
export function below({ root }: Pick<ServiceFacts, "root">, path: string): string {
  return root === "" ? path : join(root, path);
}
