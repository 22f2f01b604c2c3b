// The configuration that `mcpx config` is about: a file that is named, else the one that would count here. Checked.
import { resolve } from "node:path";
import { dataDirOf } from "../files/data-dir.ts";
import { type Context, dataOption } from "../framework/command.ts";
import { parseConfig } from "./config.ts";
import { findConfig } from "./find-config.ts";
import { notAccepted } from "./trust-words.ts";

export const configOptions = {
  ...dataOption,
  config: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "configuration (default: ./mcpx.json once accepted, else in the data directory)",
  },
} as const;

/** `undefined` where there is none. Throws what is wrong with it. */
export function readConfigFile(
  context: Context<typeof configOptions>,
  named: string | undefined,
): { path: string; text: string } | undefined {
  const { cwd, options } = context;
  const file = named ?? options.config;
  const dataDir = dataDirOf(context, options);
  const found = findConfig({ given: file === undefined ? undefined : resolve(cwd, file), cwd, dataDir });
  if (found === undefined) return undefined;
  const { path } = found;
  if (found.kind === "elsewhere" && found.accepted === undefined) throw notAccepted(path, dataDir);
  const text = found.kind === "elsewhere" ? (found.accepted?.text ?? found.text) : found.text;
  parseConfig(text, path);
  return { path, text };
}
