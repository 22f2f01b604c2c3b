// `mcpx config schema`: the JSON Schema of the configuration, for editors.
import { configJsonSchema } from "../../config/config-json-schema.ts";
import { type Context, defineCommand } from "../../framework/command.ts";

export const configSchemaCommand = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: {},
  examples: [
    ["mcpx config schema > mcpx.schema.json", 'then "$schema": "./mcpx.schema.json" in mcpx.json'],
    ["mcpx config schema --json", "on one line"],
  ],
  run,
});

async function run({ options, output }: Context): Promise<number> {
  if (options.json) output.json(configJsonSchema());
  else output.line(JSON.stringify(configJsonSchema(), undefined, 2));
  return 0;
}
