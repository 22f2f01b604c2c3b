// `mcpx config keys [WORD]`: every key of the configuration with its type, its default and what it does.
import { withoutLinks } from "../../config/config-json-schema.ts";
import { configReference, configTable } from "../../config/config-reference.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";

const options = {
  markdown: { type: "boolean", about: "as a table of Markdown" },
} as const;

export const configKeys = defineCommand({
  usage: "[WORD] [--markdown]",
  words: { min: 0, max: 1 },
  options,
  examples: [
    ["mcpx config keys", "all of them"],
    ["mcpx config keys retention", "those that have the word in their name or their description"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [word = ""] = words;
  const wanted = word.toLowerCase();
  const keys = configReference.filter(({ key, about }) => `${key} ${about}`.toLowerCase().includes(wanted));
  if (keys.length === 0) {
    throw new Failure(`no key of the configuration has ${JSON.stringify(word)} in its name or description`);
  }
  if (options.json) output.json(keys);
  else if (options.markdown) output.line(configTable(keys));
  else {
    for (const { key, type, default: standard, about } of keys) {
      output.line(
        `${output.paint("bold", key)}  ${output.paint("dim", plain(`${type}, default ${standard}`))}`,
      );
      output.line(`  ${plain(about)}`);
    }
  }
  return 0;
}

/** Without the marks and links of Markdown. */
function plain(text: string): string {
  return withoutLinks(text).replaceAll("`", "");
}
