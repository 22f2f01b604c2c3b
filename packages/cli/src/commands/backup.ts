// `mcpx backup DIR`: a copy of the stores that opens as they did, made while the gateway runs.
import { resolve } from "node:path";
import { copyStores } from "../backup-copy.ts";
import { type StoreVerdict, verifyStores } from "../backup-verify.ts";
import { type Context, dataOption, defineCommand } from "../command.ts";
import { dataDirOf } from "../data-dir.ts";
import { Failure } from "../failure.ts";
import { columns } from "../output.ts";

const options = {
  ...dataOption,
  verify: { type: "boolean", about: "check the backup in DIR instead of making one" },
} as const;

export const backup = defineCommand({
  usage: "DIR [--verify]",
  words: { min: 1, max: 1, values: [["directory"]] },
  options,
  examples: [
    ["mcpx backup backups/monday", "while the gateway runs or not"],
    ["mcpx backup --verify backups/monday", "can it be used?"],
    ["cp -r backups/monday restored && mcpx up --data restored", "use it"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { cwd, options, words, output } = context;
  const target = resolve(cwd, words[0] ?? "");
  if (options.verify) return verify(context, target);
  const files = await copyStores(dataDirOf(context, options), target);
  if (options.json) output.json({ dir: target, files });
  else
    for (const line of columns(files.map(({ file, bytes }) => [file, `${bytes} bytes`]))) output.line(line);
  return 0;
}

function verify(context: Context<typeof options>, target: string): number {
  const { options, output } = context;
  const verdicts = verifyStores(target);
  if (options.json) output.json({ dir: target, ok: verdicts.every(isSound), stores: verdicts });
  else for (const line of columns(verdicts.map(verdictRow))) output.line(line);
  const bad = verdicts.find((verdict) => !isSound(verdict));
  if (bad !== undefined) throw new Failure(`${bad.file} is damaged`, "use another backup");
  return 0;
}

function isSound({ problems }: StoreVerdict): boolean {
  return problems.length === 0;
}

function verdictRow({ file, problems, audit }: StoreVerdict): string[] {
  const chain = audit === undefined ? "" : `audit chain whole, ${audit.records} records, head ${audit.head}`;
  return [file, problems.length === 0 ? "sound" : problems.join(", "), problems.length === 0 ? chain : ""];
}
