// From the configuration to the tree's place among others: who may register here, and where this tree registers.
import type { ParentOptions, SubserverRule } from "@mcpx/aggregator";
import type { Config } from "../config/config.ts";
import { type FillInFrom, fillIn } from "../files/fill-in.ts";
import { checkPlainText, readLinkTls } from "./link-security.ts";

export interface AxSettings {
  parents: readonly ParentOptions[];
  ruleFor(segment: string): SubserverRule;
}

type ParentConfig = NonNullable<Config["parents"]>[number];

/** In `budgets`, what counts for segments without a budget of their own. */
const anySegment = "default";

export function axSettings(config: Config, world: FillInFrom): AxSettings {
  const { parents = [], subservers = {}, budgets = {} } = config;
  return {
    parents: parents.map((parent, index) => parentOptions(parent, index, world)),
    ruleFor(segment) {
      const { scope, authority, development, trusted, notifications } = ownOf(subservers, segment) ?? {};
      const budget = ownOf(budgets, segment) ?? ownOf(budgets, anySegment);
      return {
        scope,
        authority,
        isDevelopment: development,
        isTrusted: trusted,
        budget,
        notifications: flowLimits(notifications),
      };
    },
  };
}

/** As the tree knows them; what is not given is the tree's to say. */
export function flowLimits(config: Config["notifications"]): SubserverRule["notifications"] {
  if (config === undefined) return undefined;
  const { ratePerSecond, buffer } = config;
  return {
    ...(ratePerSecond !== undefined && { ratePerSecond }),
    ...(buffer !== undefined && { waitingMax: buffer }),
  };
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function parentOptions(config: ParentConfig, index: number, world: FillInFrom): ParentOptions {
  const { url, segment, token, authority, backups, heartbeat, tools, ca, cert, key, insecure } = config;
  const place = `parents[${index}]`;
  checkPlainText([url, ...(backups ?? [])], insecure, `"insecure": true in ${place}`);
  const names = { ca: `${place}.ca`, cert: `${place}.cert`, key: `${place}.key` };
  return {
    url,
    segment,
    // Read anew each time: a token in a file or variable may be replaced while we run.
    token: token === undefined ? undefined : () => fillIn(token, world),
    authority: authority === undefined ? undefined : `dns:${authority}`,
    backups,
    heartbeatMs: heartbeat,
    tools,
    tls: readLinkTls({ ca, cert, key }, world.dir, names),
    isInsecure: insecure,
  };
}
