// The bridges of the configuration: whether their libraries and secrets are there.
import { fillIn } from "../files/fill-in.ts";
import { Failure } from "../framework/failure.ts";
import type { BridgeEntry } from "../settings/bridge-settings.ts";
import { configDir } from "../settings/tree-settings.ts";
import { type Check, type Finding, fault, ok, plural } from "./finding.ts";
import type { DoctorWorld } from "./world.ts";

/** Optional: only those who have such a bridge need them. */
const libraries: Readonly<Partial<Record<BridgeEntry["platform"], readonly string[]>>> = {
  xmpp: ["@xmpp/client"],
  slack: ["@slack/web-api", "@slack/socket-mode"],
  discord: ["@discordjs/rest", "@discordjs/ws"],
};

export const bridges: Check = { name: "bridges", run };

function run({ loaded, env }: DoctorWorld): Finding[] {
  if (loaded instanceof Failure) return [];
  const world = { dir: configDir(loaded), env };
  return Object.entries(loaded.config.bridges ?? {})
    .filter(([, { disabled }]) => disabled !== true)
    .flatMap(([name, entry]) => {
      const about = `bridge ${name}`;
      const faults = [...missingLibraries(entry), ...missingSecrets(entry, world)];
      const found = faults.map(([text, fix]) => fault(about, text, fix));
      if (found.length > 0) return found;
      return [ok(about, `${entry.platform}, ${plural(Object.keys(entry.channels).length, "channel")}`)];
    });
}

function missingLibraries({ platform, component }: BridgeEntry): [string, string][] {
  const needed = component === true ? ["@xmpp/component"] : (libraries[platform] ?? []);
  return needed.flatMap((library) => {
    try {
      import.meta.resolve(library);
      return [];
    } catch {
      return [[`the package ${library} is not installed`, `npm install ${library}`] as [string, string]];
    }
  });
}

function missingSecrets(entry: BridgeEntry, from: Parameters<typeof fillIn>[1]): [string, string][] {
  // What a program prints only the gateway asks for.
  const world = { ...from, commands: { read: () => "printed" } };
  return (["password", "secret", "token", "appToken", "hsToken"] as const).flatMap((key) => {
    try {
      fillIn(entry[key] ?? "", world);
      return [];
    } catch (error) {
      return [[`${key}: ${(error as Error).message}`, "set it where mcpx is started"] as [string, string]];
    }
  });
}
