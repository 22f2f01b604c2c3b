// `mcpx tools rename NAME NEW`: another name behind the server's segment.
import { defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";
import { editOptions } from "./tools.ts";

export const toolsRename = defineCommand({
  usage: "NAME NEW [--config FILE]",
  words: { min: 2, max: 2, values: [["tool"], []] },
  options: editOptions,
  examples: [["mcpx tools rename files.read_text_file read", "files.read from now on"]],
  async run(context) {
    const { editTool } = await import("../../config-edit/tool-edit.ts");
    const [name = "", wished = ""] = context.words;
    if (!/^[a-z0-9_-]{1,63}$/.test(wished)) {
      throw misuse(
        `${JSON.stringify(wished)} cannot be a tool's name`,
        "use 1 to 63 characters out of a-z 0-9 _ -, without the server's segment",
      );
    }
    return editTool(context, name, (now) =>
      now.name === wished
        ? undefined
        : { key: ["name"], value: wished, done: `${name} is called ${wished} from now on` },
    );
  },
});
