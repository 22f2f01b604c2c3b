// Servers that a client starts by itself, past the gates: which of them can come here, and which stay there and why.

import type { ConfigFile, ServerEntry } from "../config-edit/edit-config.ts";
import type { Client, ClientWorld } from "./client.ts";
import { withEntry } from "./edit-client-file.ts";
import { type FoundServer, findServers } from "./find-servers.ts";
import { parseClientFile, valueAt } from "./parse-client-file.ts";
import { isSame, type PlannedServer, planImport } from "./plan-import.ts";
import { presentIn } from "./run-import.ts";

export interface ClientServers {
  /** All the client has of its own, wherever they stand. */
  all: readonly FoundServer[];
  /** Those of the file that `mcpx connect` writes into, by the names they have there. */
  movable: readonly FoundServer[];
  /** The servers among them that mcpx does not have yet. */
  fresh: readonly PlannedServer[];
  staying: readonly { name: string; why: string }[];
}

export function clientServersOf(
  client: Client,
  world: ClientWorld,
  config: ConfigFile,
  path: string,
): ClientServers {
  const { servers } = findServers([client], world);
  const all = servers.filter(({ isOurs }) => !isOurs);
  const staying = all.flatMap((one) => {
    const why = whyItStays(one, path);
    return why === undefined ? [] : [{ name: one.name, why }];
  });
  const movable = all.filter((one) => whyItStays(one, path) === undefined);
  const { planned } = planImport(movable, presentIn(config));
  return { all, movable, fresh: planned, staying };
}

function whyItStays({ file, project, needs, untaken }: FoundServer, path: string): string | undefined {
  if (file !== path) return `it stands in ${file}`;
  if (project !== undefined) return `it belongs to the project ${project}`;
  if (needs.length > 0) return `mcpx would need ${needs.join(", ")} in its environment`;
  return untaken.length > 0 ? `mcpx does not know what ${untaken.join(", ")} means there` : undefined;
}

/** The client's file without them. */
export function withoutServers(text: string, names: readonly string[], client: Client, file: string): string {
  return names.reduce((left, name) => withEntry(left, undefined, placeOf(client, name), file), text);
}

/** With those again that stood in `saved` and are not there now. */
export function withServersOf(
  text: string,
  saved: string,
  names: readonly string[],
  client: Client,
  file: string,
): string {
  return names.reduce((left, name) => {
    const path = [client.entryPath[0], name];
    const before = valueAt(parseClientFile(client.format, saved, file).value, path);
    const now = valueAt(parseClientFile(client.format, left, file).value, path);
    if (before === undefined || now !== undefined) return left;
    return withEntry(left, JSON.parse(JSON.stringify(before)), placeOf(client, name), file);
  }, text);
}

function placeOf({ format, entryPath }: Client, name: string): Pick<Client, "format" | "entryPath"> {
  return { format, entryPath: [entryPath[0], name] };
}

/** Servers of this configuration that a client still starts by itself. */
export function besideGates(
  found: readonly FoundServer[],
  servers: Readonly<Record<string, unknown>>,
): { found: FoundServer; name: string }[] {
  return found
    .filter(({ isOurs }) => !isOurs)
    .flatMap((one) => {
      const name = Object.keys(servers).find((key) => isSame(servers[key] as ServerEntry, one.entry));
      return name === undefined ? [] : [{ found: one, name }];
    });
}
