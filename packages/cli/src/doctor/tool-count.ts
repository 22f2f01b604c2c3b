// More tools than a client takes: what is too many is left out there without a word, or costs the model its attention.
import { matchesTool, withoutRoot } from "@mcpx/protocol";
import type { ClientId } from "../client-configs/client.ts";
import { clientOf } from "../client-configs/clients.ts";
import type { FoundServer } from "../client-configs/find-servers.ts";
import type { Config } from "../config/config.ts";
import { rootSegmentOf } from "../config-edit/edit-config.ts";
import { Failure } from "../framework/failure.ts";
import { type Check, type Finding, ok, warning } from "./finding.ts";

const about = "tools";
const toolsMax: Partial<Record<ClientId, number>> = { cursor: 40 };
const toolsMaxUsual = 128;
const ownTools = ["mcpax.notifications_dropped", "mcpax.routes", "mcpax.status", "mcpax.subservers"];

export const toolCount: Check = {
  name: about,
  doing: "counting tools",
  async run({ survey, loaded, clients }) {
    const names = (await survey()).flatMap(({ tools }) => tools.map(({ name }) => name));
    if (names.length === 0 || loaded instanceof Failure) return [];
    const connected = clients.servers.filter(({ isOurs }) => isOurs);
    const { profiles = {} } = loaded.config;
    return judgeCount([...names, ...ownTools], connected, profiles, rootSegmentOf(loaded.config));
  },
};

type Profiles = NonNullable<Config["profiles"]>;

export function judgeCount(
  names: readonly string[],
  connected: readonly Pick<FoundServer, "client" | "entry">[],
  profiles: Profiles,
  root?: string | undefined,
): Finding[] {
  const found = connected.flatMap(({ client, entry }) => {
    const count = visibleTo(names, entry, profiles, root);
    const max = toolsMax[client] ?? toolsMaxUsual;
    if (count <= max) return [];
    const text = `${clientOf(client).title} gets ${count} tools and takes ${max}`;
    return [warning(about, text, searchFix(client))];
  });
  if (found.length > 0) return found;
  const isMany = connected.length === 0 && names.length > toolsMaxUsual;
  if (isMany)
    return [warning(about, `${names.length} tools are more than most clients take`, searchFix("CLIENT"))];
  return [ok(about, `${names.length} tools in all`)];
}

function searchFix(client: string): string {
  return `"profiles": { "search": { "tools": ["**"], "search": true } } in mcpx.json, then mcpx connect ${client} --profile search`;
}

function visibleTo(
  names: readonly string[],
  { url, args = [], headers = {} }: FoundServer["entry"],
  profiles: Profiles,
  root: string | undefined,
): number {
  const path = url === undefined ? undefined : /^\/mcp\/([^/]+)$/.exec(URL.parse(url)?.pathname ?? "")?.[1];
  const name = path ?? args[args.indexOf("--profile") + 1 || args.length];
  const profile = name !== undefined && Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (profile?.search === true) return 3;
  const granted = tokenTools(headers);
  const matches = (globs: readonly string[], tool: string) =>
    globs.some((glob) => matchesTool(root, glob, withoutRoot(root, tool)));
  return names.filter(
    (tool) =>
      (profile === undefined || matches(profile.tools, tool)) &&
      (granted === undefined || matches(granted, tool)),
  ).length;
}

/** What a token says it opens; that it is a good one is another check's business. */
function tokenTools(headers: Readonly<Record<string, string>>): string[] | undefined {
  for (const value of Object.values(headers)) {
    const [, body = ""] = /^Bearer +[\w-]+\.([\w-]+)\./.exec(value) ?? [];
    try {
      const { tools } = JSON.parse(Buffer.from(body, "base64url").toString()) as { tools?: unknown };
      if (Array.isArray(tools)) return tools.filter((glob) => typeof glob === "string");
    } catch {
      // Not a token of this gateway.
    }
  }
  return undefined;
}
