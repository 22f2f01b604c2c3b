// POST /admin/rules/try: what other rules would have made of the last calls. Nothing is called, nothing changes.
import type { HttpRequest } from "@mcpx/host";
import { isObject, type JsonObject, McpxError, matchesTool, parseExact } from "@mcpx/protocol";
import { resolveName } from "../catalogue/resolve.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import type { Rule, RuleAction } from "../gates/rules.ts";
import type { Caller } from "../mcp/exchange.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { judgeByName } from "./judge-by-name.ts";

const callsMax = 100;
const rulesMax = 1_000;
const actions: readonly unknown[] = ["allow", "ask", "deny", "always_ask"] satisfies RuleAction[];

export async function tryRules(
  state: TreeState,
  gates: Gatekeeper,
  caller: Caller,
  request: HttpRequest,
): Promise<JsonObject> {
  const rules = readRules(await request.text());
  const records = (await state.audit?.list({ action: "tool.call", limit: callsMax })) ?? [];
  const tools = new Map<string, JsonObject>();
  for (const { subject = "" } of records) {
    if (!tools.has(subject)) tools.set(subject, await compare(state, gates, caller, subject, rules));
  }
  const calls = records.map(({ at, actor = "", subject = "", count }) => ({
    ...{ at: new Date(at).toISOString(), actor, tool: subject, count },
    ...tools.get(subject),
  }));
  return { calls };
}

/** The arguments of past calls are not kept: where a condition on them could decide, that is said. */
async function compare(
  state: TreeState,
  gates: Gatekeeper,
  caller: Caller,
  tool: string,
  rules: readonly Rule[],
): Promise<JsonObject> {
  const entry = await resolveName(state, "tools", tool, caller).catch(() => undefined);
  const [before, after] = [gates, { ...gates, rules }].map((one) => judgeByName(state, one, tool, entry, {}));
  const name = entry?.canonical ?? tool;
  const isConditional = [...gates.rules, ...rules].some(
    ({ tools, where = {} }) => Object.keys(where).length > 0 && matchesTool(state.rootSegment, tools, name),
  );
  return { before: before?.action, after: after?.action, why: after?.why, isConditional };
}

function readRules(text: string): Rule[] {
  let body: unknown;
  try {
    body = parseExact(text);
  } catch {
    body = undefined;
  }
  const rules = isObject(body) ? body.rules : undefined;
  if (!Array.isArray(rules) || rules.length > rulesMax || !rules.every(isRule)) {
    throw new McpxError("bad_request", `rules must be a list of at most ${rulesMax} rules of gates`);
  }
  return rules;
}

function isRule(value: unknown): value is Rule {
  if (!isObject(value) || !actions.includes(value.action)) return false;
  const { tools, where = {} } = value;
  return typeof tools === "string" && tools.length <= 256 && isObject(where);
}
