// The servers of the configuration at the console: what there is, what a change would do, and the change itself.
import type { Audit, HttpRequest, Logger } from "@mcpx/host";
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { report } from "../../client-configs/run-import.ts";
import { type ConfigFile, segmentsOf } from "../../config-edit/edit-config.ts";
import { Failure } from "../../framework/failure.ts";
import { hideSecrets } from "../../framework/secrets.ts";
import type { Configuration } from "./configuration.ts";
import { makeChange } from "./make-change.ts";
import { lookAround, planChange, showPlan } from "./plan-change.ts";
import { type Change, readChange } from "./read-change.ts";

export interface ServersOptions {
  /** Absent where the gateway was not started from one. */
  configuration: Configuration | undefined;
  audit: Audit;
  log: Pick<Logger, "error">;
  user: string;
  isDemo: boolean;
}

const noFile = {
  fault: "this gateway was not started from a configuration file",
  fix: "start it with `mcpx up`, or change its servers where it is started",
} as const;

type Verb = (request: HttpRequest) => Promise<JsonObject> | JsonObject;

export interface ServerVerbs {
  /** Where the configuration is, and whose servers can be taken out of it. */
  look: Verb;
  /** What other clients have. */
  find: Verb;
  preview: Verb;
  change: Verb;
}

export function serverVerbs(options: ServersOptions): ServerVerbs {
  const { isDemo } = options;
  const known = (): Configuration => {
    if (options.configuration !== undefined) return options.configuration;
    throw new McpxError("not_found", noFile.fault, { suggestion: noFile.fix });
  };
  const secrets = () => options.configuration?.secrets() ?? [];
  return {
    look: () => told(() => look(options.configuration?.open(), isDemo), secrets),
    find: () => told(() => find(known()), secrets),
    async preview(request) {
      const { change } = await readBody(request);
      const plan = () => ({ ...showPlan(planChange(known(), change)), isDemo });
      return await told(plan, () => [...secrets(), ...valuesOf(change)]);
    },
    async change(request) {
      const { change, digest } = await readBody(request);
      const { audit, log, user } = options;
      const context = { configuration: known(), audit, log, actor: `console:${user}` };
      return await told(
        () => makeChange(context, change, digest),
        () => [...secrets(), ...valuesOf(change)],
      );
    },
  };
}

function look(file: ConfigFile | undefined, isDemo: boolean): JsonObject {
  if (file === undefined) return { file: null, obstacle: `${noFile.fault}; ${noFile.fix}` };
  const names = [...segmentsOf(file.config).keys()];
  const { rules = [] } = file.config.gates ?? {};
  const bridges = Object.entries(file.config.bridges ?? {}).map(([name, { platform }]) => ({
    name,
    platform,
  }));
  return { file: file.path, isNew: file.before === undefined, servers: names, bridges, rules, isDemo };
}

function find(configuration: Configuration): JsonObject {
  const file = configuration.open();
  const { findings, plan } = lookAround(configuration, file);
  const fate = file.config.gates?.unannotated ?? "ask";
  return {
    ...report(findings, plan, { chosen: [], fate, written: undefined }),
    looked: findings.looked.map(({ client, path, isThere }) => ({ client, path, isThere })),
    file: file.path,
  };
}

async function readBody(request: HttpRequest): Promise<{ change: Change; digest: unknown }> {
  const body = await request.json();
  const { change, digest } = isObject(body) ? body : {};
  return { change: readChange(change), digest };
}

/** All that was given for variables, headers, fixed arguments and a bridge's access, secret or not. */
function valuesOf(change: Change): string[] {
  if (change.type === "tool")
    return Object.values(change.set.fixed ?? {}).filter((one) => typeof one === "string");
  if (change.type === "bridge") {
    const { password, secret, token, appToken, hsToken } = change.entry;
    return [password, secret, token, appToken, hsToken].filter((one) => typeof one === "string");
  }
  if (change.type !== "add") return [];
  return [...change.env, ...change.header]
    .map((pair) => pair.slice(pair.search(/[=:]/) + 1).trim())
    .filter((value) => value !== "");
}

/** What a person at a terminal would read, for the page; without what must not be shown. */
async function told(
  work: () => Promise<JsonObject> | JsonObject,
  secrets: () => string[],
): Promise<JsonObject> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const lines = [error.message, ...error.details.slice(0, 20)].join("\n");
    const suggestion = "Nothing was written";
    throw new McpxError("bad_request", hideSecrets(lines, secrets()), { suggestion, cause: error });
  }
}
