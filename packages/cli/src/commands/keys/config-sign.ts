// `mcpx config sign`: an approver signs what the configuration makes weaker, before a gateway starts with it or while one
// runs; for set-ups where nobody sits at the console.
import { dataDirOf } from "../../files/data-dir.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { visible } from "../../framework/visible.ts";
import { noteChain } from "../../gates/note-chain.ts";
import { signChangeOptions } from "../../gates/sign-change.ts";

const options = {
  ...dataOption,
  ...signChangeOptions,
  config: { type: "string", values: "file", value: "FILE", about: "configuration (default: as for mcpx up)" },
} as const;

export const configSign = defineCommand({
  usage: "[--config FILE] [--by FILE] [--yes]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx config sign", "shows what is weaker than what was signed last, and signs it with your key"],
    ["mcpx config sign --by ops.jwk --yes", "unattended, with a key that was enrolled with --unsealed"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, cwd, program } = context;
  const dataDir = dataDirOf(context, options);
  const { loadConfig } = await import("../../config/config.ts");
  const { holdConfig, withChain } = await import("../../access/authority.ts");
  const { settleEnrolled } = await import("../../access/approvers.ts");
  const { settleOrSign } = await import("../../gates/sign-change.ts");
  const { sentencesOf } = await import("@mcpx/aggregator");
  const loaded = loadConfig({ given: options.config, cwd, dataDir });
  const { waiting, settled } = await withChain(
    { ...context, dataDir, configFile: options.config },
    { mayCreate: true },
    async (store) => {
      await settleEnrolled(store.chain, await store.approvers());
      const { held } = await holdConfig(store.chain, loaded);
      const waiting = sentencesOf(store.chain.now().state, held);
      const settled = held.length === 0 ? "done" : await settleOrSign(context, store, held);
      return { waiting, settled };
    },
  );
  await noteChain(context);
  if (options.json) output.json({ settled, changes: waiting });
  else if (settled === "done")
    output.line("nothing to sign: the configuration makes no gate weaker than what was signed last");
  else if (settled === "signed")
    output.line(`signed: ${waiting.length} ${waiting.length === 1 ? "change" : "changes"}`);
  else {
    for (const sentence of waiting) output.line(visible(`waits  ${sentence}`));
    output.note(`an approver has to sign it: --by FILE with their key, the console, or ${program} pending`);
  }
  return settled === "waits" ? 1 : 0;
}
