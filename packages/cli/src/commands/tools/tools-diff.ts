// `mcpx tools diff NAME`: what has changed in a tool since it was first seen.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { visible } from "../../framework/visible.ts";

export const toolsDiff = defineCommand({
  usage: "NAME",
  words: { min: 1, max: 1, values: [["changed-tool"]] },
  options: gatewayOptions,
  examples: [["mcpx tools diff files.read_file", "- was, + is; what is invisible is written out"]],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [name = ""] = words;
  const { changeLines, toolChanges } = await import("../../tree-view/tool-changes.ts");
  const change = await toolChanges(context).find(name);
  if (options.json) output.json(change ?? { canonical: name, diff: [] });
  else if (change === undefined) output.line(`${visible(name)} has not changed`);
  else {
    for (const line of changeLines(change, output)) output.line(line);
    output.note(`accept it: ${context.program} tools accept ${visible(name)}`);
  }
  return 0;
}
