// `mcpx backup DIR`: a copy of all that a gateway needs to go on, made while it runs.
import { join, resolve } from "node:path";
import { checkInFiles } from "../../backup/check-in-files.ts";
import { configToCopy } from "../../backup/config-to-copy.ts";
import { copyDataDir } from "../../backup/copy.ts";
import type { LeftOut } from "../../backup/files.ts";
import type { ListedFile } from "../../backup/list.ts";
import { type BackupVerdict, type FileVerdict, verifyBackup } from "../../backup/verify.ts";
import { dataDirOf } from "../../files/data-dir.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { columns } from "../../framework/output.ts";
import { shellWord } from "../../framework/show-change.ts";
import { visible } from "../../framework/visible.ts";

const options = {
  ...dataOption,
  config: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "configuration to copy (default: the running gateway's, else as mcpx up finds it)",
  },
  verify: { type: "boolean", about: "check the backup in DIR instead of making one" },
} as const;

type BackupContext = Context<typeof options>;

export const backup = defineCommand({
  usage: "DIR [--verify]",
  words: { min: 1, max: 1, values: [["directory"]] },
  options,
  examples: [
    ["mcpx backup backups/monday", "the gateway may be running; the backup holds secrets"],
    ["mcpx backup --verify backups/monday", "check that the backup is complete"],
    [
      "cp -r backups/monday restored && mcpx up --data restored --config restored/mcpx.json",
      "run a gateway from it; leave out --config where there was no configuration",
    ],
  ],
  run,
});

async function run(context: BackupContext): Promise<number> {
  const { cwd, options, words, output } = context;
  const target = resolve(cwd, words[0] ?? "");
  if (options.verify) return verify(context, target);
  const dataDir = dataDirOf(context, options);
  await checkInFiles({ ...context, dataDir });
  const config = configToCopy({ cwd, dataDir, given: options.config });
  const { files, left } = await copyDataDir(dataDir, target, config);
  if (options.json) {
    output.json({ dir: target, files, left });
    return 0;
  }
  for (const line of columns(sumsOf(files))) output.line(line);
  for (const line of notesOn(context, { dataDir, configPath: config?.path, target, left })) output.note(line);
  return 0;
}

/** A row for each file, and for each directory. */
function sumsOf(files: readonly ListedFile[]): string[][] {
  const groups = Map.groupBy(files, ({ file }) => file.replace(/\/.*/s, "/"));
  return [...groups].map(([name, members]) => {
    const bytes = members.reduce((sum, one) => sum + one.bytes, 0);
    return [visible(name), `${bytes} bytes`, name.endsWith("/") ? plural(members.length) : ""];
  });
}

interface Made {
  dataDir: string;
  configPath: string | undefined;
  target: string;
  left: readonly LeftOut[];
}

function notesOn({ program }: BackupContext, { dataDir, configPath, target, left }: Made): string[] {
  const config = configPath === undefined ? "" : " --config restored/mcpx.json";
  const isElsewhere = configPath !== undefined && configPath !== join(dataDir, "mcpx.json");
  return [
    ...left.map(({ file, why }) => `left out: ${visible(file)}, ${why}`),
    ...(isElsewhere
      ? [`mcpx.json is ${visible(configPath)}; relative paths in it were meant from its directory`]
      : []),
    "it holds secrets (signing keys, credentials): keep it where only you can read it",
    `restore: cp -r ${shellWord(target)} restored && ${program} up --data restored${config}`,
  ];
}

async function verify({ options, output }: BackupContext, target: string): Promise<number> {
  const verdict = await verifyBackup(target);
  const { stores, files = [] } = verdict;
  const bad = [...stores, ...files].filter(({ problems }) => problems.length > 0);
  if (options.json) output.json({ dir: target, ok: bad.length === 0, stores, files });
  else for (const line of columns(verdictRows(verdict))) output.line(line);
  if (!options.json && verdict.files === undefined) {
    output.note("an earlier version made it: configuration, keys and approvers are not in it");
  }
  const [first] = bad;
  if (first !== undefined) throw new Failure(`${visible(first.file)} is damaged`, "use another backup");
  return 0;
}

function verdictRows({ stores, files = [] }: BackupVerdict): string[][] {
  const bad = files.filter(({ problems }) => problems.length > 0);
  const sound = files.length - bad.length;
  return [
    ...[...stores, ...bad].map(verdictRow),
    ...(sound === 0 ? [] : [[plural(sound), "sound", "present and as copied"]]),
  ];
}

function verdictRow({ file, problems, audit }: FileVerdict): string[] {
  if (problems.length > 0) return [visible(file), visible(problems.join(", "))];
  const chain = audit === undefined ? "" : `audit chain whole, ${audit.records} records, head ${audit.head}`;
  return [file, "sound", chain];
}

function plural(files: number): string {
  return files === 1 ? "1 file" : `${files} files`;
}
