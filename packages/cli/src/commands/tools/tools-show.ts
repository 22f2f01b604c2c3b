// `mcpx tools show NAME`: all that is known of one tool.
import { withoutRoot, withRoot } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { lookAtTree } from "../../tree-view/look-at-tree.ts";
import { noSuchTool } from "../../tree-view/no-such-tool.ts";
import { serverOf, showLines, warningsOf } from "../../tree-view/tool-lines.ts";

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
  const { tools, servers, root } = await lookAtTree(context);
  const inside = withoutRoot(root, name);
  const tool = tools.find((one) => one.name === withRoot(root, inside));
  if (tool === undefined) throw noSuchTool(withRoot(root, inside), { tools, servers });
  const server = serverOf(inside, servers);
  if (options.json) output.json({ ...tool, server: server?.name ?? null, warnings: warningsOf(tool, tools) });
  else for (const line of showLines(tool, server, tools)) output.line(line);
  return 0;
}
