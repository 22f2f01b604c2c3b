// `mcpx tools describe NAME TEXT`: what clients read instead of the server's own description.
import { defineCommand } from "../../framework/command.ts";
import { editOptions } from "./tools.ts";

export const toolsDescribe = defineCommand({
  usage: "NAME TEXT [--config FILE]",
  words: { min: 2, max: 2, values: [["tool"], []] },
  options: editOptions,
  examples: [
    ["mcpx tools describe files.read_file 'Reads one file of the project'", "what models will read"],
    ["mcpx tools describe files.read_file ''", "its own description again"],
  ],
  async run(context) {
    const { editTool } = await import("../../config-edit/tool-edit.ts");
    const [name = "", text = ""] = context.words;
    return editTool(context, name, ({ description }) => {
      const value = text === "" ? undefined : text;
      return description === value
        ? undefined
        : { key: ["description"], value, done: `changed the description of ${name}` };
    });
  },
});
