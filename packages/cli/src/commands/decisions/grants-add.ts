// `mcpx grants add`: allows calls beforehand, once, so many times, for a time, in a session or with these arguments.
// Shown first, and signed with an approver's key.
import { type GrantTerms, grantLines, isObject, type JsonObject, parseExact } from "@mcpx/protocol";
import { checkNeedsPerson, openSigner } from "../../access/signer.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { durationRule, parseDuration } from "../../framework/duration.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { columns } from "../../framework/output.ts";
import { readJsonObject } from "../../framework/read-json-object.ts";
import { ask } from "../../framework/show-change.ts";
import { visible } from "../../framework/visible.ts";
import { gateOptions, keyPathOf } from "../../gates/decide-gate.ts";
import { adminCall, gateAccess } from "../../gates/gate-access.ts";
import { grantRow } from "./grants.ts";

const options = {
  ...gatewayOptions,
  ...gateOptions,
  yes: { type: "boolean", about: "sign without asking" },
  uses: { type: "string", value: "N", about: "number of calls" },
  for: { type: "string", value: "TIME", about: "duration: 10m, 1h" },
  arguments: { type: "string", value: "JSON", about: "only with exactly these arguments" },
  like: {
    type: "string",
    values: "gate",
    value: "GATE",
    about: "take the caller and the tool from this waiting call",
  },
  session: { type: "boolean", about: "with --like: only in the session of that call" },
  exact: { type: "boolean", about: "with --like: only with the arguments of that call" },
  include: { type: "boolean", about: "with --like: the same signature also approves that call" },
  reason: { type: "string", value: "TEXT", about: "reason, written into the audit" },
} as const;

export const grantsAdd = defineCommand({
  usage: "WHO TOOLS | --like GATE  [--uses N] [--for TIME] [--key FILE] …",
  words: { min: 0, max: 2, values: [[], ["tool"]] },
  options,
  examples: [
    ["mcpx grants add agent files.write --uses 3", "three calls"],
    ["mcpx grants add agent 'files.*' --for 10m", "for ten minutes"],
    ["mcpx grants add --like Hk3v --exact --uses 1", "that call, once more"],
    ["mcpx grants add --like Hk3v --session", "until its session ends"],
    ["mcpx grants add --like Hk3v --include --uses 5", "that call, and five more of its tool"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const wish = { ...(await whoAndWhat(context)), ...bounds(context) };
  const call = adminCall(context);
  const signer = openSigner(context, keyPathOf(context));
  if (options.yes) checkNeedsPerson(signer, context);
  const { terms } = await call("POST", "/grants/terms", wish);
  if (!isSameWish(terms, wish)) {
    throw new Failure("the gateway wants another grant signed than was asked for", "nothing was signed");
  }
  if (!(await isAgreed(context, terms))) {
    output.line("nothing was granted");
    return 1;
  }
  const answer = await call("POST", "/grants", {
    grant_id: terms.grant_id,
    proof: await signer.grant(terms),
  });
  if (options.json) output.json(answer);
  else for (const line of columns([grantRow(answer)])) output.line(line);
  return 0;
}

async function isAgreed(context: Context<typeof options>, terms: GrantTerms): Promise<boolean> {
  const { options, output } = context;
  if (options.yes) return true;
  if (!options.json) for (const line of grantLines(terms)) output.line(visible(line));
  const answer = options.json ? undefined : await ask(context, "Sign exactly this? y or n (Enter: n)");
  if (answer === undefined) {
    throw new Failure(
      "nothing was granted: there is no terminal to ask for confirmation",
      "run it in a terminal",
    );
  }
  return /^y(es)?$/i.test(answer);
}

/** Every field that is signed, whatever the gateway says; where the digest is of what was asked for. */
function isSameWish(terms: unknown, wish: JsonObject): terms is GrantTerms {
  if (!isObject(terms)) return false;
  const { principal, tools, ttl_ms: ttlMs, uses, session, reason, call } = terms;
  const told = { principal, tools, ttlMs, uses, session, reason };
  const isSame = Object.entries(told).every(([key, value]) => value === wish[key]);
  const hasArguments = (terms.arguments_digest === undefined) === (wish.arguments === undefined);
  const calls = isObject(call) ? call.confirmation_id : undefined;
  return isSame && hasArguments && calls === (wish.includesCall === true ? wish.like : undefined);
}

async function whoAndWhat(context: Context<typeof options>): Promise<JsonObject> {
  const { options, words } = context;
  const { like, session, exact, include } = options;
  if (like === undefined) {
    const [principal, tools] = words;
    if (session || exact || include) {
      throw misuse("--session, --exact and --include need --like", "give --like GATE");
    }
    if (principal === undefined || tools === undefined) {
      throw misuse("grants add needs who and which tools", "mcpx grants add agent files.write --uses 1");
    }
    return { principal, tools };
  }
  if (words.length > 0) throw misuse("--like says who and which tool", "leave out the words");
  const gate = await gateAccess(context).find(like);
  return {
    principal: gate.principal,
    tools: gate.tool,
    like: gate.id,
    ...(include && { includesCall: true }),
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
