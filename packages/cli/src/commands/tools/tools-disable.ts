// `mcpx tools disable NAME`: neither shown nor callable.
import { defineCommand } from "../../framework/command.ts";
import { editOptions } from "./tools.ts";

export const toolsDisable = defineCommand({
  usage: "NAME [--config FILE]",
  words: { min: 1, max: 1, values: [["tool"]] },
  options: editOptions,
  examples: [["mcpx tools disable files.write_file", "it is neither listed nor called"]],
  async run(context) {
    const { editTool } = await import("../../config-edit/tool-edit.ts");
    const [name = ""] = context.words;
    return editTool(context, name, ({ enabled }) =>
      enabled === false ? undefined : { key: ["enabled"], value: false, done: `disabled ${name}` },
    );
  },
});
