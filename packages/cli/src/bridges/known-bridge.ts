// A bridge by its name in the configuration.
import type { Config } from "../config/config.ts";
import { Failure } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";
import type { BridgeEntry } from "../settings/bridge-settings.ts";

export function knownBridge({ bridges = {} }: Config, name: string, path: string): BridgeEntry {
  const entry = Object.hasOwn(bridges, name) ? bridges[name] : undefined;
  if (entry !== undefined) return entry;
  const names = Object.keys(bridges);
  const known = names.length === 0 ? "add one with mcpx bridge add" : `there are: ${names.join(", ")}`;
  throw new Failure(`there is no bridge ${name} in ${path}`, suggestion(name, names) ?? known);
}
