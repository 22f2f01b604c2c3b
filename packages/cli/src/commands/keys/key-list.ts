// `mcpx key list`: who was enrolled to approve, and who can sign with each key.
import { thumbprint } from "@mcpx/host";
import { weakApprovers } from "../../access/weak-approvers.ts";
import { dataDirOf, homeOf } from "../../files/data-dir.ts";
import { listKeyFiles } from "../../files/key-file.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { columns } from "../../framework/output.ts";
import { visible } from "../../framework/visible.ts";

export const keyList = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: dataOption,
  examples: [
    ["mcpx key list", "names, how the keys are kept, and thumbprints"],
    ["mcpx key remove bob", "bob stops being an approver at once"],
  ],
  run,
});

async function run(context: Context<typeof dataOption>): Promise<number> {
  const { options, output, program } = context;
  const { readApprovers } = await import("../../access/approvers.ts");
  const { describeKey } = await import("@mcpx/aggregator");
  const dataDir = dataDirOf(context, options);
  const { keys, faults } = await readApprovers(homeOf(context, options));
  const files = listKeyFiles(dataDir).filter(({ kept }) => kept !== "public");
  /** As its file is now, where that is here. */
  const keptHere = (kid: unknown) => files.find(({ jwk }) => thumbprint(jwk) === kid)?.kept;
  const approvers = keys.map(describeKey).map((one) => {
    const kept = keptHere(one.thumbprint);
    return { ...one, ...(kept && { kept }) };
  });
  const weak = weakApprovers(dataDir, keys, program);
  if (options.json) output.json({ approvers, faults, weak });
  else for (const line of columns(approvers.map(row))) output.line(line);
  if (!options.json && approvers.length === 0)
    output.note(`there is no approver yet: ${program} key enroll NAME`);
  if (!options.json) for (const { fault, fix } of weak) output.note(visible(`${fault}; ${fix}`));
  for (const fault of faults) output.note(`ignored: ${visible(fault)}`);
  return 0;
}

function row({ name, kind, kept = "", thumbprint }: Record<string, unknown>): string[] {
  return [visible(String(name)), String(kind), String(kept), String(thumbprint)];
}
