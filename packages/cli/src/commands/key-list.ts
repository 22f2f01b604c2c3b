// `mcpx key list`: who was enrolled to approve. Whose file is deleted approves nothing any more.

import { dataDirOf } from "../files/data-dir.ts";
import { type Context, dataOption, defineCommand } from "../framework/command.ts";
import { columns } from "../framework/output.ts";
import { visible } from "../framework/visible.ts";

export const keyList = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: dataOption,
  examples: [
    ["mcpx key list", "names and thumbprints"],
    ["rm ~/.local/share/mcpx/approvers/bob.json", "bob approves nothing any more, at once"],
  ],
  run,
});

async function run(context: Context<typeof dataOption>): Promise<number> {
  const { options, output, program } = context;
  const { readApprovers } = await import("../access/approvers.ts");
  const { keys, faults } = readApprovers(dataDirOf(context, options));
  const approvers = keys.map(({ name, kind, thumbprint }) => ({ name, kind, thumbprint }));
  if (options.json) output.json({ approvers, faults });
  else for (const line of columns(approvers.map(row))) output.line(line);
  if (!options.json && approvers.length === 0) output.note(`nobody yet: ${program} key enroll NAME`);
  for (const fault of faults) output.note(`does not count: ${visible(fault)}`);
  return 0;
}

function row({ name, kind, thumbprint }: { name: string; kind: string; thumbprint: string }): string[] {
  return [visible(name), kind, thumbprint];
}
