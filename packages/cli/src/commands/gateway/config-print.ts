// `mcpx config print`: the configuration that counts here, without its secrets; `--resolved` with every default.

import { type JsonObject, maskSecrets, replaceBetween, secretMask } from "@mcpx/protocol";
import { parse } from "jsonc-parser";
import { configOptions, readConfigFile } from "../../config/read-config-file.ts";
import { withDefaults } from "../../config/with-defaults.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { secretsOf, storeSecrets } from "../../framework/secrets.ts";

const options = {
  ...configOptions,
  resolved: { type: "boolean", about: "with the defaults of all keys that are not set" },
} as const;

export const configPrint = defineCommand({
  usage: "[FILE] [--resolved]",
  words: { min: 0, max: 1, values: [["file"]] },
  options,
  examples: [
    ["mcpx config print", "the configuration in use, secrets masked"],
    ["mcpx config print --resolved", "with every default"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const found = readConfigFile(context, words[0]);
  const config = found === undefined ? {} : (parse(found.text) as JsonObject);
  const shown = masked(options.resolved ? withDefaults(config) : config);
  if (!options.json)
    output.note(found === undefined ? "no configuration here: all defaults apply" : found.path);
  if (options.json) output.json(shown);
  else output.line(JSON.stringify(shown, undefined, 2));
  return 0;
}

/** References stay: they say where a secret is, not what it is. */
function masked(config: JsonObject): unknown {
  const { store = "", storeKey = "", mcpServers = {} } = config;
  const secrets = [
    ...Object.values(mcpServers as Record<string, object>).flatMap(secretsOf),
    ...[String(storeKey), ...storeSecrets(String(store))],
  ];
  const hidden = new Set(secrets.filter((secret) => secret !== "" && !secret.includes("${")));
  const hide = (value: unknown): unknown => {
    if (typeof value === "string")
      return [...hidden].reduce((text, one) => text.replaceAll(one, secretMask), value);
    if (Array.isArray(value)) return value.map(hide);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, hide(child)]));
  };
  return restored(maskSecrets(hide(config)), config);
}

/** With nothing beside it, or a word such as `Bearer`. */
function isReference(text: string): boolean {
  return text.includes("${") && /^\w* ?$/.test(replaceBetween(text, ["${", "}"], () => ""));
}

/** Puts a reference back where a mask took its place. */
function restored(shown: unknown, given: unknown): unknown {
  if (typeof given === "string") return isReference(given) ? given : shown;
  if (Array.isArray(given) && Array.isArray(shown)) return shown.map((one, i) => restored(one, given[i]));
  if (typeof given !== "object" || given === null || typeof shown !== "object" || shown === null)
    return shown;
  return Object.fromEntries(
    Object.entries(shown).map(([name, child]) => [name, restored(child, (given as JsonObject)[name])]),
  );
}
