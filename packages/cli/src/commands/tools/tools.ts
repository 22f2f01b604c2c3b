// `mcpx tools [GLOB]`: the tools of the tree, with how dangerous and how slow they are.
import { matchesTool, withoutRoot } from "@mcpx/protocol";
import {
  type Context,
  configOption,
  dataOption,
  defineCommand,
  gatewayOptions,
} from "../../framework/command.ts";
import { visible } from "../../framework/visible.ts";
import { lookAtTree } from "../../tree-view/look-at-tree.ts";
import { listLines, marks, toolRows } from "../../tree-view/tool-lines.ts";

/** Of the commands that change what is set for a tool. */
export const editOptions = { ...configOption, ...dataOption } as const;
export type EditContext = Context<typeof editOptions>;

export const tools = defineCommand({
  usage: "[GLOB]",
  words: { min: 0, max: 1, values: [["tool"]] },
  options: gatewayOptions,
  examples: [
    ["mcpx tools", "all of them; ! cannot be undone, ~ changes things, ? has changed itself"],
    ["mcpx tools 'files.*'", "those of one server"],
    ["mcpx tools '**read**' --json", "for programs"],
  ],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [glob = "**"] = words;
  const { tools: listed, report, root } = await lookAtTree(context);
  const rows = toolRows(listed, report).filter(({ name }) =>
    matchesTool(root, glob, withoutRoot(root, name)),
  );
  if (options.json) {
    output.json({ tools: rows });
    return 0;
  }
  if (rows.length === 0) output.note(`mcpx: no tool is called ${visible(glob)}`);
  for (const line of listLines(rows, output.width)) {
    const isGrave = line.startsWith(marks.irreversible) || line.startsWith(marks.unknown);
    output.line(isGrave ? `${output.paint("yellow", line.slice(0, 1))}${line.slice(1)}` : line);
  }
  return 0;
}
