// `mcpx audit`: who was allowed or refused what; as it comes, or as a file that can be checked anywhere.
import { resolve } from "node:path";
import type { AuditQuery, ChainVerdict } from "@mcpx/host";
import { type AuditFilter, filterOptions, isWanted, readFilter } from "../audit-filter.ts";
import { auditCells, auditLine, recordOf } from "../audit-line.ts";
import { type AuditSource, openAuditSource } from "../audit-source.ts";
import { type Context, defineCommand, gatewayOptions } from "../command.ts";
import { exportLines, writeExport } from "../export-audit.ts";
import { Failure, misuse } from "../failure.ts";
import { followAudit } from "../follow-audit.ts";
import { columns } from "../output.ts";
import { readLimit } from "../read-limit.ts";

const options = {
  ...gatewayOptions,
  ...filterOptions,
  limit: { type: "string", value: "N", about: "how many (default: 50, with --follow 10)" },
  follow: { type: "boolean", about: "keep showing what comes; Ctrl-C ends" },
  export: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "write the chain to a new file, or - for standard output",
  },
  verify: { type: "boolean", about: "check that no record was changed or removed" },
} as const;

export const audit = defineCommand({
  usage: "[--since TIME] [--action GLOB] [--actor NAME] [--limit N] [--follow | --export FILE]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx audit", "the newest records"],
    ["mcpx audit --action 'gate.*' --since 1d", "every decision at a gate since yesterday"],
    ["mcpx audit --actor alice --json", "what alice did, for programs"],
    ["mcpx audit --follow", "what happens, as it happens"],
    ["mcpx audit --export audit.jsonl", "a copy that mcpx audit verify can check anywhere"],
    ["mcpx audit --export - --since 7d | gzip > week.gz", "the last week, through a pipe"],
  ],
  run,
});

type AuditContext = Context<typeof options>;

async function run(context: AuditContext): Promise<number> {
  const { options } = context;
  checkTogether(options);
  const filter = readFilter(options, Date.now());
  const limit = readLimit(options.limit, options.follow ? 10 : 50);
  const source = await openAuditSource(context);
  try {
    if (options.export !== undefined) return await exportChain(context, source, options.export, filter);
    const query = { limit, ...filter };
    return options.follow ? await follow(context, source, query) : await show(context, source, query);
  } finally {
    source.close();
  }
}

function checkTogether(options: AuditContext["options"]): void {
  const { export: file, follow, verify, limit, action, actor } = options;
  if (file !== undefined && follow) throw misuse("--export ends, and --follow does not", "use one of them");
  if (verify && (follow || file !== undefined))
    throw misuse("--verify stands alone", "see mcpx audit verify");
  const left = file !== undefined && [limit, action, actor].some((one) => one !== undefined);
  if (left) {
    throw misuse(
      "an export has every record from its beginning on: with some left out nobody could check it",
      "leave out --limit, --action and --actor",
    );
  }
}

async function show(context: AuditContext, source: AuditSource, query: AuditQuery): Promise<number> {
  const { options, output } = context;
  const records = await source.list(query);
  const chain = options.verify ? await source.verify() : undefined;
  if (options.json) output.json({ records, ...(chain && { chain }) });
  // Oldest first, so that the newest stands where the eye is.
  else for (const line of columns(records.reverse().map(auditCells))) output.line(line);
  if (records.length === 0 && !options.json) output.note("no record fits");
  if (chain !== undefined) checkChain(chain);
  if (chain?.ok && !options.json) output.line(wholeText(chain));
  return 0;
}

export function checkChain(chain: ChainVerdict): void {
  if (chain.ok) return;
  const fix = "compare with a backup: somebody changed it";
  throw new Failure(`the audit chain is broken at record ${chain.at}`, fix);
}

export function wholeText({ records, head }: Extract<ChainVerdict, { ok: true }>): string {
  return `the chain is whole: ${records} records, head ${head}`;
}

async function follow(context: AuditContext, source: AuditSource, query: AuditQuery): Promise<number> {
  const { options, output } = context;
  const signal = context.interrupted();
  const print = (record: ReturnType<typeof recordOf>) =>
    options.json ? output.json(record) : output.line(auditLine(record, output));
  const { head } = await source.page({ after: 0, limit: 1 });
  const before = await source.list({ ...query, before: head.seq + 1 });
  for (const record of before.reverse()) print(record);
  await followAudit(
    source,
    { after: head.seq, signal },
    {
      row: (row) => {
        if (isWanted(row, query)) print(recordOf(row));
      },
      lost: ({ message }) => output.note(`-- ${message}; trying again`),
      back: () => output.note("-- back, nothing was missed"),
      shortened: (seq) =>
        output.note(`-- the chain ends at record ${seq} now: it was cut, or a backup put back`),
    },
  );
  return 0;
}

async function exportChain(
  context: AuditContext,
  source: AuditSource,
  file: string,
  { since }: AuditFilter,
): Promise<number> {
  const { options, output, cwd, program } = context;
  const lines = exportLines(source, { since, now: Date.now });
  if (file === "-") {
    await output.pour(lines);
    return 0;
  }
  const { records, head } = await writeExport(resolve(cwd, file), lines);
  if (options.json) output.json({ file: resolve(cwd, file), records, head });
  else {
    output.line(`${records} ${records === 1 ? "record" : "records"} in ${file}, head ${head}`);
    output.note(`keep the head elsewhere; ${program} audit verify ${file} checks the file anywhere`);
  }
  return 0;
}
