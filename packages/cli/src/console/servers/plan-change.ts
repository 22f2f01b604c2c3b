// What a change of the configuration would write and start, to the letter, before anybody has said yes to it.
import { hash } from "node:crypto";
import type { JsonObject } from "@mcpx/protocol";
import { clientsOf } from "../../client-configs/clients.ts";
import { type Findings, findServers } from "../../client-configs/find-servers.ts";
import { type ImportPlan, planImport } from "../../client-configs/plan-import.ts";
import { entriesOf, presentIn } from "../../client-configs/run-import.ts";
import { worldOf } from "../../client-configs/world-of.ts";
import { type Config, parseConfig } from "../../config/config.ts";
import {
  type ConfigFile,
  type ServerEntry,
  withBridge,
  withoutServerValue,
  withRules,
  withServers,
  withServerValue,
  withToolValue,
} from "../../config-edit/edit-config.ts";
import { secretsOfChange, withNewServer, withoutKnownServer } from "../../config-edit/plan-servers.ts";
import { checkServerName, readEntry, readUnannotated } from "../../config-edit/server-entry.ts";
import { Failure } from "../../framework/failure.ts";
import { isLoaderName, shownUrl } from "../../framework/secrets.ts";
import { changedLines } from "../../framework/show-change.ts";
import type { Configuration } from "./configuration.ts";
import type { Change, Edit } from "./read-change.ts";

export interface Plan {
  file: ConfigFile;
  /** The whole file as it would be. */
  text: string;
  /** The servers that are added. */
  entries: ReadonlyMap<string, ServerEntry>;
  /** Those that go, or whose place is taken. */
  leaving: readonly string[];
  /** What is configured for the tool that is changed, as it would be. */
  tool?: ToolConfig;
}

type ToolConfig = NonNullable<NonNullable<Config["mcpServers"]>[string]["tools"]>[string];

/** Throws a failure where the change cannot be made. */
export function planChange(configuration: Configuration, change: Change): Plan {
  const file = configuration.open();
  const plan = planIn(file, configuration, change);
  configuration.check({ path: file.path, config: parseConfig(plan.text, file.path) });
  return plan;
}

function planIn(file: ConfigFile, configuration: Configuration, change: Change): Plan {
  switch (change.type) {
    case "add": {
      const { name } = change;
      checkServerName(name);
      if (change.words[0] === undefined || change.words[0].trim() === "") {
        throw new Failure("a server needs a command or an address");
      }
      const entry = readEntry(change, { cwd: configuration.cwd, configPath: file.path });
      const { text, isThere } = withNewServer(file, name, entry, change);
      return { file, text, entries: new Map([[name, entry]]), leaving: isThere ? [name] : [] };
    }
    case "edit": {
      const { name } = change;
      const text = withEdit(file, name, change.set);
      // Those two are written in more ways than they are read, and shown in none.
      const { timeout: _, type: __, ...entry } = parseConfig(text, file.path).mcpServers?.[name] ?? {};
      return { file, text, entries: new Map([[name, entry]]), leaving: [] };
    }
    case "remove": {
      const { name } = change;
      return { file, text: withoutKnownServer(file, name), entries: new Map(), leaving: [name] };
    }
    case "import": {
      const { planned } = lookAround(configuration, file).plan;
      const chosen = planned.filter(({ name }) => change.names.includes(name));
      if (chosen.length === 0 || chosen.length !== new Set(change.names).size) {
        throw new Failure("a chosen server is no longer there", "look again");
      }
      const entries = entriesOf(chosen, readUnannotated(change.unannotated));
      return { file, text: withServers(file, entries), entries, leaving: [] };
    }
    case "tool": {
      const text = withTool(file, change);
      const tool =
        ownOf(ownOf(parseConfig(text, file.path).mcpServers, change.server)?.tools, change.tool) ?? {};
      return { file, text, entries: new Map(), leaving: [], tool };
    }
    case "bridge": {
      const { name, replace, entry } = change;
      const isThere = ownOf(file.config.bridges, name) !== undefined;
      if (isThere && !replace) {
        throw new Failure(`there is a bridge ${name} in ${file.path} already`, "choose another name");
      }
      return {
        file,
        text: withBridge(file, name, entry),
        entries: new Map(),
        leaving: isThere ? [name] : [],
      };
    }
    case "unbridge": {
      const { name } = change;
      if (ownOf(file.config.bridges, name) === undefined) {
        throw new Failure(`there is no bridge ${name} in ${file.path}`, "look again");
      }
      return { file, text: withBridge(file, name, undefined), entries: new Map(), leaving: [name] };
    }
    case "rules":
      return { file, text: withRules(file, change.rules), entries: new Map(), leaving: [] };
  }
}

function withTool(first: ConfigFile, change: Extract<Change, { type: "tool" }>): string {
  const { before, path } = first;
  if (before === undefined || ownOf(first.config.mcpServers, change.server) === undefined) {
    throw new Failure(`there is no server ${change.server} in ${path}`, "look again");
  }
  const { enabled, name, fixed = {}, freed = [] } = change.set;
  const values: [key: string[], value: unknown][] = [
    ...(enabled === undefined ? [] : [[["enabled"], enabled ? undefined : false] as [string[], unknown]]),
    ...(name === undefined ? [] : [[["name"], name === "" ? undefined : name] as [string[], unknown]]),
    ...freed.map((argument): [string[], unknown] => [["arguments", argument], undefined]),
    ...Object.entries(fixed).map(([argument, value]): [string[], unknown] => [
      ["arguments", argument],
      value,
    ]),
  ];
  let file = first;
  let { text } = before;
  for (const [key, value] of values) {
    text = withToolValue(file, change, key, value);
    file = { ...file, config: parseConfig(text, path), before: { ...before, text } };
  }
  return text;
}

function ownOf<T>(values: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return values !== undefined && Object.hasOwn(values, name) ? values[name] : undefined;
}

/** Value by value, so that comments and whatever is not edited stay as they are. */
function withEdit(file: ConfigFile, name: string, { words, ...set }: Edit): string {
  const before = file.config.mcpServers?.[name];
  if (file.before === undefined || before === undefined) {
    throw new Failure(`there is no server ${name} in ${file.path}`, "look again");
  }
  const values = new Map<string, unknown>();
  if (words !== undefined) {
    const [first = "", ...args] = words;
    const isUrl = /^https?:\/\//i.test(first) && args.length === 0;
    if (first.trim() === "" || isUrl !== (before.url !== undefined)) {
      throw new Failure(
        before.url === undefined ? "a program needs a command" : "this server needs an address",
        "to make another kind of server of it, remove it and add it again",
      );
    }
    values.set(isUrl ? "url" : "command", first);
    if (!isUrl) values.set("args", args.length === 0 ? undefined : args);
  }
  if (set.trusted !== undefined) values.set("trusted", set.trusted || undefined);
  if (set.disabled !== undefined) values.set("disabled", set.disabled || undefined);
  if (set.unannotated !== undefined) {
    values.set("unannotated", set.unannotated === "" ? undefined : readUnannotated(set.unannotated));
  }
  let text = file.before.text;
  for (const [key, value] of values) {
    text = withServerValue({ ...file, before: { ...file.before, text } }, name, [key], value);
  }
  if (set.perUser === undefined) return text;
  const edited = { ...file, before: { ...file.before, text } };
  return set.perUser
    ? withServerValue(edited, name, ["oauth", "per"], "user")
    : withoutServerValue(edited, name, ["oauth", "per"]);
}

/** The servers of other clients of this machine, and how an import would change them. */
export function lookAround(
  configuration: Configuration,
  file: ConfigFile,
): { findings: Findings; plan: ImportPlan } {
  const findings = findServers(clientsOf([]), worldOf(configuration));
  return { findings, plan: planImport(findings.servers, presentIn(file)) };
}

const linesMax = 2_000;

/** Shown to a person, who consents to exactly this: `digest` is of the file before and after. */
export function showPlan(plan: Plan): JsonObject {
  const { file, text, entries, leaving, tool } = plan;
  const lines = changedLines(file.before?.text ?? "", text, secretsOfChange(file, text));
  return {
    file: file.path,
    isNew: file.before === undefined,
    lines: lines.slice(0, linesMax).map(({ sign, text: line }) => ({ sign, text: line.toWellFormed() })),
    linesLeftOut: Math.max(0, lines.length - linesMax),
    starts: [...entries].map(([name, entry]) => showEntry(name, entry)),
    leaving,
    ...(tool !== undefined && { tool: showTool(tool) }),
    digest: digestOf(plan),
  };
}

/** The values of fixed arguments may be secret, so only their names are shown. */
function showTool({ enabled = true, name, arguments: fixed = {} }: ToolConfig): JsonObject {
  return { isOn: enabled, name: name ?? null, fixed: Object.keys(fixed) };
}

export function digestOf({ file, text }: Plan): string {
  const before = file.before === undefined ? null : hash("sha256", file.before.bytes, "base64url");
  return hash("sha256", JSON.stringify([file.path, before, text]), "base64url");
}

/** The command is shown whole, and variables that load code: what looks like a secret there may be what it does. */
function showEntry(name: string, entry: ServerEntry): JsonObject {
  const {
    command,
    args = [],
    url,
    cwd,
    env = {},
    headers = {},
    disabled,
    trusted,
    unannotated,
    oauth,
  } = entry;
  return {
    name,
    words: command === undefined ? [] : [command, ...args],
    url: url === undefined ? null : shownUrl(url),
    cwd: cwd ?? null,
    env: Object.entries(env).map(([variable, value]) =>
      isLoaderName(variable) ? `${variable}=${value}` : variable,
    ),
    headers: Object.keys(headers),
    isOff: disabled === true,
    isTrusted: trusted === true,
    isPerUser: oauth?.per === "user",
    unannotated: unannotated ?? null,
  };
}
