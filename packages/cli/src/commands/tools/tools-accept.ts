// `mcpx tools accept NAME` and `--all`: tools may be as they are now.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";

const options = {
  ...gatewayOptions,
  all: { type: "boolean", about: "every tool that has changed" },
} as const;

export const toolsAccept = defineCommand({
  usage: "NAME | --all",
  words: { min: 0, max: 1, values: [["changed-tool"]] },
  options,
  examples: [
    ["mcpx tools accept files.read_file", "as `mcpx tools diff` shows it"],
    ["mcpx tools accept --all", "after an update you trust"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { output, words } = context;
  const [name] = words;
  if ((name === undefined) !== context.options.all)
    throw misuse("accept needs the name of a tool, or --all", "see mcpx tools");
  const { changeLines, toolChanges } = await import("../../tree-view/tool-changes.ts");
  const changes = toolChanges(context);
  const accepted: object[] = [];
  for (const one of name === undefined ? await changes.list() : [name]) {
    const change = await changes.find(one);
    if (change === undefined && name !== undefined) throw new Failure(`${name} has not changed`);
    if (change === undefined) continue;
    await changes.accept(change);
    accepted.push(change);
    if (context.options.json) continue;
    for (const line of changeLines(change, output)) output.line(line);
    output.line("accepted");
  }
  if (context.options.json) output.json({ accepted });
  else if (accepted.length === 0) output.line("no tool has changed");
  return 0;
}
