// `mcpx audit verify`: whether an export, or the chain itself, is whole. An export needs nothing but its file.
import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { type ExportVerdict, verifyExport } from "@mcpx/host";
import { compareWithLive } from "../../audit/compare-audit.ts";
import { isProposalsStart } from "../../audit/proposals/export-proposals.ts";
import { openAuditSource } from "../../audit/source.ts";
import { boundedLines } from "../../framework/bounded-lines.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { checkChain, wholeText } from "./audit.ts";

const options = {
  ...gatewayOptions,
  live: { type: "boolean", about: "compare FILE with the chain of the gateway too" },
} as const;

export const auditVerify = defineCommand({
  usage: "[FILE] [--live]",
  words: { min: 0, max: 1, values: [["file"]] },
  options,
  examples: [
    ["mcpx audit verify audit.jsonl", "anywhere, without a gateway"],
    ["mcpx audit verify audit.jsonl --live", "compare it with the gateway's own records"],
    ["mcpx audit verify", "the chain of the gateway itself"],
  ],
  run,
});

type VerifyContext = Context<typeof options>;
type Whole = Extract<ExportVerdict, { ok: true }>;

async function run(context: VerifyContext): Promise<number> {
  const { words, options } = context;
  const [file] = words;
  if (file !== undefined) return await verifyFile(context, file);
  if (options.live) throw misuse("--live compares a file", "write mcpx audit verify FILE --live");
  return await verifyOwn(context);
}

async function verifyOwn(context: VerifyContext): Promise<number> {
  const { options, output } = context;
  const source = await openAuditSource(context);
  try {
    const chain = await source.verify();
    if (options.json) output.json(chain);
    checkChain(chain);
    if (chain.ok && !options.json) output.line(wholeText(chain));
    return 0;
  } finally {
    await source.close();
  }
}

async function verifyFile(context: VerifyContext, file: string): Promise<number> {
  const { options, output, cwd } = context;
  const path = resolve(cwd, file);
  for await (const first of linesOf(path, file)) {
    if (!isProposalsStart(first)) break;
    const fix = "give the export of the audit that was made with it";
    throw new Failure(`${file} has proposals, which no chain covers: there is nothing to verify`, fix);
  }
  const verdict = await verifyExport(linesOf(path, file));
  if (options.json) output.json(verdict);
  if (!verdict.ok) throw new Failure(faultText(file, verdict), "compare with another copy");
  if (!options.json) for (const line of wholeLines(file, verdict)) output.line(line);
  if (!options.live) return 0;
  const source = await openAuditSource(context);
  try {
    const { records } = await compareWithLive(source, verdict, () => linesOf(path, file));
    if (!options.json)
      output.line(`the export is part of the chain of ${source.where}, which has ${records} records`);
    return 0;
  } finally {
    await source.close();
  }
}

async function* linesOf(path: string, file: string): AsyncGenerator<string> {
  try {
    yield* boundedLines(createReadStream(path));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Failure(`${file} cannot be read (${code})`, "make one with mcpx audit --export FILE", {
      cause: error,
    });
  }
}

function faultText(file: string, { fault, at, line, text }: Extract<ExportVerdict, { ok: false }>): string {
  const place = `line ${line}: ${text}`;
  if (fault === "no export") return `${file} is not an export of the audit (${place})`;
  if (fault === "cut at the end") return `${file} was cut at the end, before record ${at} (${place})`;
  if (fault === "cut at the start") return `${file} was cut at the start (${place})`;
  return `${file}: record ${at} ${fault === "missing" ? "is missing" : `was ${fault}`} (${place})`;
}

function wholeLines(file: string, verdict: Whole): string[] {
  const { records, from, to, head, firstAt, lastAt } = verdict;
  const times =
    firstAt === undefined || lastAt === undefined ? "" : `, ${timeText(firstAt)} to ${timeText(lastAt)}`;
  return [
    `${file} is whole: ${records} records${records === 0 ? "" : `, ${from} to ${to}`}${times}`,
    `head ${head}`,
    ...(from === 1 ? [] : [`the export begins with record ${from}; it has no earlier records`]),
  ];
}

function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 19).replace("T", " ")}Z`;
}
