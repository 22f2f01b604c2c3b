// `gateway.json` in the data directory: where the running gateway is, for the commands beside it.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "@mcpx/host";
import { isObject } from "@mcpx/protocol";
import { isLocked } from "../files/data-lock.ts";

export interface GatewayPlace {
  url: string;
  pid: number;
  /** What opens GET /admin/names there. */
  names?: string;
  /** The path of its configuration. */
  config?: string;
  /** That file counts as `mcpx trust` accepted it. */
  isAccepted?: boolean;
  /** Whether it shows the demo. */
  isDemo?: boolean;
}

export function writePlace(dataDir: string, place: GatewayPlace): void {
  writeWhole(placePath(dataDir), `${JSON.stringify(place)}\n`);
}

export function removePlace(dataDir: string): void {
  rmSync(placePath(dataDir), { force: true });
}

/** What the file says, whether or not that gateway still runs. */
export function readPlace(dataDir: string): GatewayPlace | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(placePath(dataDir), "utf8"));
    if (!isObject(value) || typeof value.url !== "string" || typeof value.pid !== "number") return undefined;
    const { url, pid, names, config, isAccepted, isDemo } = value;
    return {
      ...{ url, pid },
      ...(typeof names === "string" && { names }),
      ...(typeof config === "string" && { config }),
      ...(isAccepted === true && { isAccepted }),
      ...(isDemo === true && { isDemo }),
    };
  } catch {
    return undefined;
  }
}

/** The gateway that runs on this data directory now. A file left by one that was killed does not count. */
export function runningPlace(dataDir: string): GatewayPlace | undefined {
  return isLocked(dataDir) ? readPlace(dataDir) : undefined;
}

function placePath(dataDir: string): string {
  return join(dataDir, "gateway.json");
}
