// For the operator: GET /admin/rules (each with the tools it is about), POST /admin/rules/test (what would become of a
// call; nothing is called), POST /admin/rules/try (what other rules would have made of the last calls),
// POST /admin/panic (everything is asked for, until it is over).
import type { HttpRequest, Principal, Route } from "@mcpx/host";
import { cautious, isObject, type JsonObject, McpxError, matchesTool, parseExact } from "@mcpx/protocol";
import { type Entry, listSoon, listsAwaited, listWithin } from "../catalogue/catalogue.ts";
import { resolveName } from "../catalogue/resolve.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import { judge } from "../gates/judge.ts";
import type { Rule } from "../gates/rules.ts";
import type { Caller } from "../mcp/exchange.ts";
import { type LocalGuard, operatorRoute, requireLocal } from "../mcp/operator.ts";
import { plainCaller, principalName } from "../mcp/plain-caller.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { ensureServersFor } from "../servers/users/server-for.ts";
import { judgeByName } from "./judge-by-name.ts";
import { tryRules } from "./try-rules.ts";

export interface PanicKeeper {
  /** So that panic outlives the process. */
  keepPanic(isPanic: boolean): Promise<void>;
  /** What an approver has to sign first, if anything: the gate of it. */
  endPanic?: (() => Promise<string | undefined>) | undefined;
}

interface RuleRouteOptions extends PanicKeeper {
  guard: LocalGuard;
}

export function ruleRoutes(state: TreeState, gates: Gatekeeper, options: RuleRouteOptions): Route[] {
  const { guard, keepPanic, endPanic } = options;
  return [
    operatorRoute(guard, "GET", "/admin/rules", async (by, { query }) => ({
      body: await showRules(state, gates, by, listWaitOf(query.get("list_wait_ms"))),
    })),
    operatorRoute(guard, "POST", "/admin/rules/test", async (by, request) => ({
      body: await testRules(state, gates, by, request),
    })),
    operatorRoute(guard, "POST", "/admin/rules/try", async (by, request) => ({
      body: await tryRules(state, gates, everywhere(by), request),
    })),
    operatorRoute(guard, "POST", "/admin/panic", async (by, request) => {
      const body = await request.json();
      const on = isObject(body) ? body.on : undefined;
      if (typeof on !== "boolean") throw new McpxError("bad_request", "on must be true or false");
      // Who sees something wrong may stop everything; going on is for those who answer for it.
      if (!on) requireLocal(guard, "POST /admin/panic", by, request);
      const waits = on ? undefined : await endPanic?.();
      if (waits !== undefined) return { status: 202, body: { panic: gates.isPanic, waits } };
      await keepPanic(on);
      gates.isPanic = on;
      const action = on ? "gate.panic" : "gate.calm";
      await state.audit?.recordNow({ action, actor: principalName(by) });
      return { body: { panic: on } };
    }),
  ];
}

const listWaitMsMax = 60_000;

/** How long its reader waits for any one server; as long as the server has, unless given. */
function listWaitOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = Number(text);
  if (/^\d{1,5}$/.test(text) && ms <= listWaitMsMax) return ms;
  throw new McpxError("bad_request", `list_wait_ms must be a number from 0 to ${listWaitMsMax}`);
}

async function showRules(
  state: TreeState,
  gates: Gatekeeper,
  by: Principal,
  listWaitMs: number | undefined,
): Promise<JsonObject> {
  const { rules, unannotated, quorum = 1, isPanic } = gates;
  const caller = everywhere(by);
  const lists = await Promise.all(
    ensureServersFor(state, caller).map((server) =>
      listWaitMs === undefined
        ? listSoon(state, server, "tools", caller)
        : listWithin(state, server, "tools", caller, listWaitMs),
    ),
  );
  const tools = lists.flatMap((listed) => listed?.entries ?? []);
  // A rule without conditions leaves nothing for those after it.
  const open = (index: number) =>
    tools.filter(({ canonical }) => !rules.slice(0, index).some((rule) => isLast(state, rule, canonical)));
  return {
    rules: rules.map((rule, index) => ({
      ...rule,
      number: index + 1,
      matches: namesOf(
        open(index).filter(({ canonical }) => matchesTool(state.rootSegment, rule.tools, canonical)),
      ),
    })),
    rest: open(rules.length).map((tool) => {
      const { action, why } = judge(state, { ...gates, rules: [] }, tool, {});
      return { tool: tool.fullName, action, why };
    }),
    unannotated,
    quorum,
    panic: isPanic,
    awaited: listsAwaited(state, "tools", caller),
  };
}

function isLast({ rootSegment }: TreeState, { tools, where = {} }: Rule, canonical: string): boolean {
  return Object.keys(where).length === 0 && matchesTool(rootSegment, tools, canonical);
}

function namesOf(tools: readonly Entry[]): string[] {
  return tools.map(({ fullName }) => fullName);
}

async function testRules(
  state: TreeState,
  gates: Gatekeeper,
  by: Principal,
  request: HttpRequest,
): Promise<JsonObject> {
  const { tool, arguments: given } = readTest(await request.text());
  const entry = await resolveName(state, "tools", tool, everywhere(by)).catch(() => undefined);
  return {
    ...judgeByName(state, gates, tool, entry, given),
    tool: entry?.fullName ?? tool,
    isKnown: entry !== undefined,
    capability: { ...(entry?.capability ?? cautious) },
  };
}

function readTest(text: string): { tool: string; arguments: JsonObject } {
  let body: unknown;
  try {
    body = parseExact(text);
  } catch {
    body = undefined;
  }
  const { tool, arguments: given = {} } = isObject(body) ? body : {};
  if (typeof tool !== "string" || tool === "" || tool.length > 255) {
    throw new McpxError("bad_request", "tool must be a tool's name");
  }
  if (!isObject(given)) throw new McpxError("bad_request", "arguments must be an object");
  return { tool, arguments: given };
}

/** What an operator looks at is not bounded by the tools of their token. */
function everywhere(by: Principal): Caller {
  return plainCaller({ ...by, tools: ["**"] }, "operator");
}
