// From the configuration to the tree's place among others: who may register here, and where we register ourselves.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { ParentOptions, SubserverRule } from "@mcpx/aggregator";
import type { Config } from "./config.ts";
import { Failure } from "./failure.ts";
import { type FillInFrom, fillIn } from "./fill-in.ts";

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
      const { scope, authority, development } = ownOf(subservers, segment) ?? {};
      const budget = ownOf(budgets, segment) ?? ownOf(budgets, anySegment);
      return { scope, authority, isDevelopment: development, budget };
    },
  };
}

function ownOf<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function parentOptions(config: ParentConfig, index: number, world: FillInFrom): ParentOptions {
  const { url, segment, token, authority, backups, heartbeat, tools, ca, cert, key, insecure } = config;
  const pem = (name: "ca" | "cert" | "key", file: string | undefined) =>
    file === undefined ? undefined : readPem(resolve(world.dir, file), `parents[${index}].${name}`);
  return {
    url,
    segment,
    // Read anew each time: a token in a file or variable may be replaced while we run.
    token: token === undefined ? undefined : () => fillIn(token, world),
    authority: authority === undefined ? undefined : `dns:${authority}`,
    backups,
    heartbeatMs: heartbeat,
    tools,
    tls: { ca: pem("ca", ca), cert: pem("cert", cert), key: pem("key", key) },
    isInsecure: insecure,
  };
}

function readPem(path: string, name: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`${name}: ${path} cannot be read (${code})`, "give the path of a PEM file");
  }
}
