// Changes what `mcpx.json` says of one tool. Loaded only by the commands that edit: it brings the schema with it.
import { segmentFor } from "@mcpx/aggregator";
import { withoutRoot } from "@mcpx/protocol";
import { accessGateway, callGateway } from "../access/gateway-access.ts";
import { runningPlace } from "../access/running-gateway.ts";
import type { EditContext } from "../commands/tools/tools.ts";
import { type Config, parseConfig } from "../config/config.ts";
import { localUser } from "../files/local-store.ts";
import { Failure } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";
import { shortPath, showDiff } from "../framework/show-change.ts";
import { visible } from "../framework/visible.ts";
import {
  type ConfigFile,
  openConfig,
  rootSegmentOf,
  saveConfig,
  segmentsOf,
  shownSecrets,
  withToolValue,
} from "./edit-config.ts";
import { undoHint } from "./undo-hint.ts";

type ServerConfig = NonNullable<Config["mcpServers"]>[string];
export type ToolConfig = NonNullable<ServerConfig["tools"]>[string];

/** The place of a tool in the configuration. */
interface ToolPlace {
  server: string;
  /** The server's own name for the tool. */
  tool: string;
}

export interface ToolEdit {
  /** Below the tool's own entry. */
  key: readonly string[];
  /** Taken out where it is `undefined`. */
  value: unknown;
  /** What was done, for people. */
  done: string;
}

/** `edit` is given what is set for the tool now; `undefined` where there is nothing to do. */
export async function editTool(
  context: EditContext,
  name: string,
  edit: (now: ToolConfig, place: ToolPlace & { config: ServerConfig }) => ToolEdit | undefined,
): Promise<number> {
  const { options, output } = context;
  const file = openConfig(context);
  const place = await findTool(context, file, name);
  const config = file.config.mcpServers?.[place.server] as ServerConfig;
  const { tools = {} } = config;
  const now = Object.hasOwn(tools, place.tool) ? (tools[place.tool] as ToolConfig) : {};
  const change = edit(now, { ...place, config });
  const about = { tool: name, server: place.server, name: place.tool, file: file.path };
  const text = change && withToolValue(file, place, change.key, change.value);
  if (change === undefined || text === undefined || text === file.before?.text) {
    if (options.json) output.json({ ...about, changed: false });
    else output.line(`${visible(name)} has this setting already; nothing was written`);
    return 0;
  }
  const { backup } = saveConfig(file, text, new Date());
  if (options.json) {
    output.json({ ...about, changed: true, backup: backup ?? null });
    return 0;
  }
  output.line(`${visible(change.done)} in ${shortPath(file.path, context)}`);
  const secrets = [file.config, parseConfig(text, file.path)].flatMap(shownSecrets);
  showDiff(context, file.before?.text ?? "", text, secrets);
  output.note(undoHint(context.program, place.server, file, backup));
  if (runningPlace(file.dataDir) !== undefined)
    output.note("mcpx: a running gateway applies this by itself, or says that it needs a restart");
  return 0;
}

/** The gateway knows what its servers call their tools; without one, the name is taken for the server's own. */
async function findTool(context: EditContext, file: ConfigFile, name: string): Promise<ToolPlace> {
  const { config, path, dataDir } = file;
  const segments = segmentsOf(config);
  const asked = runningPlace(dataDir) === undefined ? undefined : await askGateway(context, name);
  const place = asked ?? guess(config, segments, withoutRoot(rootSegmentOf(config), name));
  if (place === undefined || !segments.has(place.server)) {
    const known = [...segments].map(([server, segment]) => segment || server);
    const [first = ""] = name.split(".");
    throw new Failure(
      `${path} has no server for ${name}`,
      suggestion(first, known) ?? (known.length === 0 ? "it has none" : `it has ${known.join(", ")}`),
    );
  }
  return place;
}

async function askGateway(context: EditContext, name: string): Promise<ToolPlace | undefined> {
  const { MCPX_TOKEN: _, ...env } = context.env;
  const options = { data: context.options.data, url: undefined, token: undefined };
  const access = accessGateway(
    { ...context, env, options },
    { sub: `cli:${localUser()}`, topics: [], admin: true },
  );
  try {
    const path = `/admin/tools/${encodeURIComponent(name)}`;
    const { server, tool } = await callGateway(await access.enter(), "GET", path);
    return { server: String(server), tool: String(tool) };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    context.output.note(`mcpx: the running gateway does not know ${visible(name)}`);
    return undefined;
  }
}

function guess(
  { mcpServers = {} }: Config,
  segments: ReadonlyMap<string, string>,
  name: string,
): ToolPlace | undefined {
  const dot = name.indexOf(".");
  const first = name.slice(0, Math.max(0, dot));
  const inside = [...segments].find(([, segment]) => segment !== "" && segment === first);
  const [server] = inside ?? [...segments].find(([, segment]) => segment === "") ?? [];
  if (server === undefined) return undefined;
  const rest = inside === undefined ? name : name.slice(dot + 1);
  const set = Object.entries(mcpServers[server]?.tools ?? {});
  const [found] =
    set.find(([, { name: given }]) => given === rest) ??
    set.find(([tool]) => tool === rest) ??
    set.find(([tool]) => segmentFor(tool) === rest) ??
    [];
  return { server, tool: found ?? rest };
}
