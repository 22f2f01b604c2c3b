// `mcpx audit`: who was allowed or refused what; as it comes, or as a file that can be checked anywhere.
import { resolve } from "node:path";
import type { AuditQuery, ChainVerdict } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { checkNew, exportLines, writeExport } from "../../audit/export-audit.ts";
import { type AuditFilter, filterOptions, isAction, isWanted, readFilter } from "../../audit/filter.ts";
import { followAudit } from "../../audit/follow-audit.ts";
import { auditCells, auditLine, recordOf } from "../../audit/line.ts";
import { proposalLines, proposalsFileOf } from "../../audit/proposals/export-proposals.ts";
import { newestProposals } from "../../audit/proposals/newest-proposals.ts";
import { proposalActions } from "../../audit/proposals/proposal-record.ts";
import { type AuditSource, openAuditSource } from "../../audit/source.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { columns, widthLeft } from "../../framework/output.ts";
import { readLimit } from "../../framework/read-limit.ts";
import { cut } from "../../framework/visible.ts";

const options = {
  ...gatewayOptions,
  ...filterOptions,
  limit: { type: "string", value: "N", about: "how many (default: 50, with --follow 10)" },
  follow: { type: "boolean", about: "keep showing new records; Ctrl-C ends" },
  export: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "write the chain to a new file and proposals beside it, or the chain to - for standard output",
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
    ["mcpx audit --action 'proposal.*'", "what was proposed in rooms, and its outcome"],
    ["mcpx audit --actor alice --json", "what alice did, for programs"],
    ["mcpx audit --follow", "new records, as they are written"],
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
    await source.close();
  }
}

function checkTogether(options: AuditContext["options"]): void {
  const { export: file, follow, verify, limit, action, actor } = options;
  if (file !== undefined && follow)
    throw misuse("--export and --follow cannot be combined", "use only one of them");
  if (verify && (follow || file !== undefined))
    throw misuse("--verify takes no other options", "see mcpx audit verify");
  const left = file !== undefined && [limit, action, actor].some((one) => one !== undefined);
  if (left) {
    throw misuse(
      "an export without some of its records could not be verified",
      "leave out --limit, --action and --actor",
    );
  }
}

async function show(context: AuditContext, source: AuditSource, query: AuditQuery): Promise<number> {
  const { options, output } = context;
  const records = await listBoth(source, query);
  const chain = options.verify ? await source.verify() : undefined;
  if (options.json) output.json({ records, ...(chain && { chain }) });
  // Oldest first, so that the newest stands where the eye is.
  else for (const line of auditTable(records.reverse(), output.width)) output.line(line);
  if (records.length === 0 && !options.json) output.note("no record matches");
  if (chain !== undefined) checkChain(chain);
  if (chain?.ok && !options.json) output.line(wholeText(chain));
  return 0;
}

/** Details are cut to what the terminal has room for; `--json` has all of them. */
function auditTable(records: readonly JsonObject[], width: number): string[] {
  const rows = records.map(auditCells);
  const cellWidth = widthLeft(detailColumn, rows, width);
  return columns(rows.map((row) => row.map((cell, i) => (i === detailColumn ? cut(cell, cellWidth) : cell))));
}

const detailColumn = 4;

/** Records of the chain and of proposals, newest first. */
async function listBoth(source: AuditSource, query: AuditQuery): Promise<JsonObject[]> {
  const chained = await source.list(query);
  if (!proposalActions.some((action) => isAction(action, query))) return chained;
  const proposals = await newestProposals(source.proposals({ since: query.since }), query);
  // A decision stands in both: the one in the chain can be checked.
  const known = new Set(chained.map(proposalKey));
  const others = proposals.filter((record) => !known.has(proposalKey(record)));
  // A stable sort: of one moment, each keeps its own order.
  return [...chained, ...others].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, query.limit);
}

function proposalKey({ action, topic, actor, detail }: JsonObject): string | undefined {
  const id = isObject(detail) ? detail.proposal : undefined;
  return typeof id === "string" ? JSON.stringify([action, topic, actor, id]) : undefined;
}

function timeOf({ at }: JsonObject): number {
  return Date.parse(String(at));
}

export function checkChain(chain: ChainVerdict): void {
  if (chain.ok) return;
  const fix = "a record was changed; compare with a backup";
  throw new Failure(`the audit chain is broken at record ${chain.at}`, fix);
}

export function wholeText({ records, head, pruned }: Extract<ChainVerdict, { ok: true }>): string {
  const whole = `the chain is whole: ${records} records, head ${head}`;
  if (pruned === undefined) return whole;
  const { to, hash, at } = pruned;
  const when = new Date(at).toISOString();
  return `${whole}\nrecords 1 to ${to} were pruned, last on ${when}, as the chain itself says; the last of them had the hash ${hash}`;
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
        output.note(`-- the chain ends at record ${seq} now: it was cut, or a backup was restored`),
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
    output.note("proposals of rooms are not in it: --export FILE writes them to a file beside the chain");
    return 0;
  }
  const beside = proposalsFileOf(file);
  checkNew(resolve(cwd, beside));
  const { records, head } = await writeExport(resolve(cwd, file), lines);
  const found = proposalLines(source.proposals({ since }), Date.now);
  const proposals = { file: resolve(cwd, beside), ...(await writeExport(resolve(cwd, beside), found)) };
  if (options.json) output.json({ file: resolve(cwd, file), records, head, proposals });
  else {
    output.line(`${countText(records)} in ${file}, head ${head}`);
    output.note(`${countText(proposals.records)} of proposals in ${beside}, which no chain covers`);
    output.note(`keep the head elsewhere; ${program} audit verify ${file} checks the file anywhere`);
  }
  return 0;
}

function countText(records: number): string {
  return `${records} ${records === 1 ? "record" : "records"}`;
}
