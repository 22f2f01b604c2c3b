// `mcpx audit`: who was allowed or refused what, and whether the record is whole.
import type { ChainVerdict } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../command.ts";
import { dataDirOf } from "../data-dir.ts";
import { Failure } from "../failure.ts";
import { accessGateway, callGateway, hasGateway } from "../gateway-access.ts";
import { localUser, withStore } from "../local-store.ts";
import { columns } from "../output.ts";
import { readLimit } from "../read-limit.ts";
import { cut, visible } from "../visible.ts";

const options = {
  ...gatewayOptions,
  limit: { type: "string", value: "N", about: "how many (default: 50)" },
  action: { type: "string", value: "WORD", about: "only this action, such as token.revoke" },
  verify: { type: "boolean", about: "check that no record was changed or removed" },
} as const;

export const audit = defineCommand({
  name: "audit",
  summary: "show who was allowed or refused what",
  usage: "[--limit N] [--action WORD] [--verify]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx audit", "the newest records"],
    ["mcpx audit --action participant.promote", "who was promoted, and by whom"],
    ["mcpx audit --verify --limit 1", "is the chain whole?"],
  ],
  run,
});

interface AuditAnswer {
  records: JsonObject[];
  chain: ChainVerdict | undefined;
}

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const limit = readLimit(options.limit, 50);
  const { records, chain } = hasGateway(context)
    ? await askGateway(context, limit)
    : await readStore(context, limit);
  if (options.json) output.json({ records, ...(chain && { chain }) });
  // Oldest first, so that the newest stands where the eye is.
  else for (const line of columns(records.reverse().map(auditRow))) output.line(line);
  if (chain?.ok === false) {
    throw new Failure(
      `the audit chain is broken at record ${chain.at}`,
      "compare with a backup: somebody changed it",
    );
  }
  if (chain !== undefined && !options.json)
    output.line(`the chain is whole: ${chain.records} records, head ${chain.head}`);
  return 0;
}

async function askGateway(context: Context<typeof options>, limit: number): Promise<AuditAnswer> {
  const { action, verify } = context.options;
  const query = new URLSearchParams({
    limit: String(limit),
    ...(action && { action }),
    ...(verify && { verify: "1" }),
  });
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  const { records, chain } = await callGateway(await access.enter(), "GET", `/admin/audit?${query}`);
  return {
    records: Array.isArray(records) ? records.filter(isObject) : [],
    chain: isObject(chain) ? (chain as unknown as ChainVerdict) : undefined,
  };
}

function readStore(context: Context<typeof options>, limit: number): Promise<AuditAnswer> {
  const { action, verify } = context.options;
  return withStore(dataDirOf(context, context.options), {}, ({ audit }) => ({
    records: audit
      .list({ limit, action })
      .map((record) => ({ ...record, at: new Date(record.at).toISOString() })),
    chain: verify ? audit.verify() : undefined,
  }));
}

function auditRow({ at, action, reason, actor, subject, topic, detail, count }: JsonObject): string[] {
  const times = typeof count === "number" && count > 1 ? ` ×${count}` : "";
  const people = [actor, subject].filter((part) => part !== undefined).join(" → ");
  const place = topic === undefined ? "" : ` in ${topic}`;
  const more = detail === undefined ? "" : cut(JSON.stringify(detail), 120);
  const result = reason === undefined ? "ok" : `refused: ${reason}${times}`;
  return [shortTime(at), String(action), result, `${people}${place}`, more].map(visible);
}

function shortTime(at: unknown): string {
  return String(at).slice(0, 19).replace("T", " ");
}
