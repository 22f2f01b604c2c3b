// `mcpx bridge remove NAME`: out of the configuration, and its links and cards out of the data directory.
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { shortPath, showDiff } from "../../framework/show-change.ts";

const options = { ...configOption, ...dataOption } as const;

export const bridgeRemove = defineCommand({
  usage: "NAME [--config FILE]",
  words: { min: 1, max: 1 },
  options,
  examples: [["mcpx bridge remove team", "everybody who was linked there is unlinked"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [name = ""] = words;
  const { openConfig, saveConfig, withBridge } = await import("../../config-edit/edit-config.ts");
  const { secretsOfChange } = await import("../../config-edit/plan-servers.ts");
  const { knownBridge } = await import("../../bridges/known-bridge.ts");
  const { forgetBridge } = await import("../../bridges/bridge-records.ts");
  const file = openConfig(context);
  knownBridge(file.config, name, file.path);
  const text = withBridge(file, name, undefined);
  const { backup } = saveConfig(file, text, new Date());
  const unlinked = await forgetBridge({ ...context, ...file }, name);
  if (options.json) {
    output.json({ name, file: file.path, backup: backup ?? null, unlinked });
    return 0;
  }
  output.line(
    `removed the bridge ${name} from ${shortPath(file.path, context)}; ${unlinked} people unlinked`,
  );
  showDiff(context, file.before?.text ?? "", text, secretsOfChange(file, text));
  output.note("mcpx: a running gateway keeps this bridge until it is restarted");
  return 0;
}
