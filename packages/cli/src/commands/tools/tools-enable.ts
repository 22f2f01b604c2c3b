// `mcpx tools enable NAME`: shown again, also where the server's lists say otherwise.
import { matchesAnyGlob } from "@mcpx/protocol";
import { defineCommand } from "../../framework/command.ts";
import { editOptions } from "./tools.ts";

export const toolsEnable = defineCommand({
  usage: "NAME [--config FILE]",
  words: { min: 1, max: 1, values: [["disabled-tool"]] },
  options: editOptions,
  examples: [["mcpx tools enable files.write_file", "also a tool that allow or deny of its server hides"]],
  async run(context) {
    const { editTool } = await import("../../config-edit/tool-edit.ts");
    const [name = ""] = context.words;
    return editTool(context, name, ({ enabled }, { tool, config: { allow, deny = [] } }) => {
      const isKeptOut =
        (allow !== undefined && !matchesAnyGlob(allow, tool, ".")) || matchesAnyGlob(deny, tool, ".");
      if (enabled === true || (enabled === undefined && !isKeptOut)) return undefined;
      return { key: ["enabled"], value: isKeptOut ? true : undefined, done: `enabled ${name}` };
    });
  },
});
