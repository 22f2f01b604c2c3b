// `mcpx tools show NAME`: all that is known of one tool.
import { type Context, defineCommand, gatewayOptions } from "../command.ts";
import { lookAtTree } from "../look-at-tree.ts";
import { noSuchTool } from "../no-such-tool.ts";
import { serverOf, showLines } from "../tool-lines.ts";

export const toolsShow = defineCommand({
  usage: "NAME",
  words: { min: 1, max: 1, values: [["tool"]] },
  options: gatewayOptions,
  examples: [["mcpx tools show files.read_file", "as clients see it"]],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [name = ""] = words;
  const { tools, servers } = await lookAtTree(context);
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw noSuchTool(name, { tools, servers });
  const server = serverOf(name, servers);
  if (options.json) output.json({ ...tool, server: server?.name ?? null });
  else for (const line of showLines(tool, server)) output.line(line);
  return 0;
}
