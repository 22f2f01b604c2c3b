// `mcpx remove NAME`: a server out of the tree's configuration, and what its tools were out of the data directory.

import { undoHint } from "../../config-edit/undo-hint.ts";
import { localUser } from "../../files/local-store.ts";
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { shortPath, showDiff } from "../../framework/show-change.ts";

const options = { ...configOption, ...dataOption } as const;

export const remove = defineCommand({
  usage: "NAME [--config FILE]",
  words: { min: 1, max: 1, values: [["server"]] },
  options,
  examples: [["mcpx remove files", "comments and all else in the file stay"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [name = ""] = words;
  const { openConfig, saveConfig } = await import("../../config-edit/edit-config.ts");
  const { secretsOfChange, withoutKnownServer } = await import("../../config-edit/plan-servers.ts");
  const file = openConfig(context);
  const text = withoutKnownServer(file, name);
  const { backup } = saveConfig(file, text, new Date());
  const { forgetPins } = await import("../../tree-view/forget-pins.ts");
  const forgotten = await forgetPins({ ...context, ...file }, name, `cli:${localUser()}`);
  if (options.json) {
    output.json({ name, file: file.path, backup: backup ?? null, forgotten });
    return 0;
  }
  output.line(`removed ${name} from ${shortPath(file.path, context)}`);
  showDiff(context, file.before?.text ?? "", text, secretsOfChange(file, text));
  if (forgotten > 0) {
    const tools = forgotten === 1 ? "the pin of one tool is" : `the pins of ${forgotten} tools are`;
    output.note(`mcpx: ${tools} forgotten; a server of that name starts without pins`);
  }
  output.note(undoHint(context.program, name, file, backup));
  return 0;
}
