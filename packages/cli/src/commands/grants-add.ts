// `mcpx grants add`: allows calls beforehand, once, so many times, for a time, in a session or with these arguments.
import { type JsonObject, parseExact } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../framework/command.ts";
import { durationRule, parseDuration } from "../framework/duration.ts";
import { misuse } from "../framework/failure.ts";
import { columns } from "../framework/output.ts";
import { readJsonObject } from "../framework/read-json-object.ts";
import { adminCall, gateDesk } from "../gates/gate-desk.ts";
import { grantRow } from "./grants.ts";

const options = {
  ...gatewayOptions,
  uses: { type: "string", value: "N", about: "so many calls" },
  for: { type: "string", value: "TIME", about: "so long: 10m, 1h" },
  arguments: { type: "string", value: "JSON", about: "only with exactly these arguments" },
  like: {
    type: "string",
    values: "gate",
    value: "GATE",
    about: "who and which tool: as in this call that waits",
  },
  session: { type: "boolean", about: "with --like: only in the session of that call" },
  exact: { type: "boolean", about: "with --like: only with the arguments of that call" },
  reason: { type: "string", value: "TEXT", about: "why, for the record" },
} as const;

export const grantsAdd = defineCommand({
  usage: "WHO TOOLS | --like GATE  [--uses N] [--for TIME] …",
  words: { min: 0, max: 2, values: [[], ["tool"]] },
  options,
  examples: [
    ["mcpx grants add agent files.write --uses 3", "three calls"],
    ["mcpx grants add agent 'files.*' --for 10m", "ten minutes long"],
    ["mcpx grants add --like Hk3v --exact --uses 1", "that call, once more"],
    ["mcpx grants add --like Hk3v --session", "until its session ends"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const wish = { ...(await whoAndWhat(context)), ...bounds(context) };
  const answer = await adminCall(context)("POST", "/grants", wish);
  if (options.json) output.json(answer);
  else for (const line of columns([grantRow(answer)])) output.line(line);
  return 0;
}

async function whoAndWhat(context: Context<typeof options>): Promise<JsonObject> {
  const { options, words } = context;
  const { like, session, exact } = options;
  if (like === undefined) {
    const [principal, tools] = words;
    if (session || exact) throw misuse("--session and --exact go with --like", "give --like GATE");
    if (principal === undefined || tools === undefined) {
      throw misuse("grants add needs who and which tools", "mcpx grants add agent files.write --uses 1");
    }
    return { principal, tools };
  }
  if (words.length > 0) throw misuse("--like says who and which tool", "leave out the words");
  const gate = await gateDesk(context).find(like);
  return {
    principal: gate.principal,
    tools: gate.tool,
    ...(session && { session: gate.session }),
    ...(exact && { arguments: parseExact(gate.argumentsText) }),
  };
}

function bounds(context: Context<typeof options>): JsonObject {
  const { uses, for: time, arguments: given, reason, session } = context.options;
  if (uses === undefined && time === undefined && !session) {
    throw misuse("a grant needs an end", "give --uses N, --for TIME, or --like GATE --session");
  }
  return {
    ...(uses !== undefined && { uses: readUses(uses) }),
    ...(time !== undefined && { ttlMs: readTime(time) }),
    ...(given !== undefined && { arguments: readJsonObject(given, "--arguments") }),
    ...(reason !== undefined && { reason }),
  };
}

function readUses(text: string): number {
  if (/^[1-9][0-9]{0,5}$/.test(text)) return Number(text);
  throw misuse(`--uses ${text} is not a number of calls`, "write one from 1 to 999999");
}

function readTime(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined) return ms;
  throw misuse(`--for ${text} is not a time`, `write ${durationRule}`);
}
