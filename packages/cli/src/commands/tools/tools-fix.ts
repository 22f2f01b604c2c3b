// `mcpx tools fix NAME ARG=JSON`: an argument that callers neither see nor choose.
import { isDeepStrictEqual } from "node:util";
import { defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";
import { editOptions } from "./tools.ts";

export const toolsFix = defineCommand({
  usage: "NAME ARG=JSON [--config FILE]",
  words: { min: 2, max: 2, values: [["tool"], []] },
  options: editOptions,
  examples: [
    [`mcpx tools fix db.query 'readonly=true'`, "in every call, whatever the caller says"],
    [`mcpx tools fix files.search 'path="/srv/notes"'`, "texts are quoted, as in JSON"],
    [`mcpx tools fix files.search 'path='`, "the caller sets the argument again"],
  ],
  async run(context) {
    const { editTool } = await import("../../config-edit/tool-edit.ts");
    const [name = "", text = ""] = context.words;
    const { argument, value } = readAssignment(text);
    return editTool(context, name, ({ arguments: fixed = {} }) => {
      const before = Object.hasOwn(fixed, argument) ? fixed[argument] : undefined;
      if (isDeepStrictEqual(before, value)) return undefined;
      const done =
        value === undefined ? `callers set ${argument} of ${name} again` : `fixed ${argument} of ${name}`;
      return { key: ["arguments", argument], value, done };
    });
  },
});

function readAssignment(text: string): { argument: string; value: unknown } {
  const at = text.indexOf("=");
  if (at < 1) throw misuse("the argument has no name or no value", `write for example 'path="/srv/notes"'`);
  const argument = text.slice(0, at);
  const json = text.slice(at + 1);
  if (json === "") return { argument, value: undefined };
  try {
    return { argument, value: JSON.parse(json) };
  } catch {
    // It may be a secret: it is not shown.
    throw misuse(`the value of ${argument} is not JSON`, `quote a text: '${argument}="text"'`);
  }
}
