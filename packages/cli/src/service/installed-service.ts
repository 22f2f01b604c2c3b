// The service of this machine, as anybody may see it: whose it is by its unit, and whether what it keeps can be reached
// from here.
import { accessSync, constants, readFileSync } from "node:fs";
import { below, serviceFacts } from "./facts.ts";
import { userIds } from "./steps.ts";

export interface InstalledService {
  user: string;
  uid: number | undefined;
  dataDir: string;
  /** By the user who looks. */
  isReached: boolean;
}

/** `undefined` where there is none. `root`: as `mcpx service install --root` has it. */
export function installedService(root = ""): InstalledService | undefined {
  const { platform } = process;
  if (platform !== "linux" && platform !== "darwin") return undefined;
  const usual = serviceFacts({ user: undefined, root, platform, program: [] });
  const user = userIn(below(usual, usual.unitPath));
  if (user === undefined) return undefined;
  // On a Mac users of services begin with an underscore.
  const uid = userIds({ ...usual, user: platform === "darwin" ? user.replace(/^_/, "") : user })?.uid;
  const path = below(usual, usual.dataDir);
  const isReached =
    isAllowed(path, constants.R_OK) || isAllowed(path, constants.W_OK) || isAllowed(path, constants.X_OK);
  return { user, uid, dataDir: usual.dataDir, isReached };
}

/** `User=` of a unit, `UserName` of launchd. */
function userIn(unitPath: string): string | undefined {
  try {
    const text = readFileSync(unitPath, "utf8");
    const inPlist = text.split("<key>UserName</key>")[1]?.split("</string>")[0]?.split("<string>")[1];
    return /^User=(\S+)$/m.exec(text)?.[1] ?? inPlist;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return undefined;
    throw error;
  }
}

function isAllowed(path: string, right: number): boolean {
  try {
    accessSync(path, right);
    return true;
  } catch {
    return false;
  }
}
