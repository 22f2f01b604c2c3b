// Rules of the gates as a person edits them: fields for one rule, an order for all of them. Pure.
import { isObject, type JsonObject, matchesTool, withoutRoot } from "@mcpx/protocol";

export interface Rule {
  tools: string;
  action: string;
  where?: JsonObject;
  approvers?: number;
  holdResult?: boolean;
}

interface Condition {
  path: string;
  /** As it is typed: a text as it is, anything else as JSON. */
  value: string;
}

export interface RuleFields {
  tools: string;
  action: string;
  conditions: Condition[];
  /** Empty: as for all. */
  approvers: string;
  holdResult: boolean;
}

export const actionTexts: Readonly<Record<string, string>> = {
  allow: "Allow",
  ask: "Ask, unless a grant allows it",
  always_ask: "Always ask, whatever was granted",
  deny: "Deny",
};

export const actionTones: Readonly<Record<string, string>> = {
  allow: "good",
  ask: "accent",
  always_ask: "accent",
  deny: "bad",
};

export function rulesOf(value: unknown): Rule[] {
  return Array.isArray(value) ? (value.filter(isObject) as unknown as Rule[]) : [];
}

export function fieldsOf({ tools, action, where = {}, approvers, holdResult }: Rule): RuleFields {
  return {
    tools,
    action,
    conditions: Object.entries(where).map(([path, value]) => ({ path, value: typedText(value) })),
    approvers: approvers === undefined ? "" : String(approvers),
    holdResult: holdResult === true,
  };
}

/** Conditions without a path are none. */
export function ruleOf({ tools, action, conditions, approvers, holdResult }: RuleFields): Rule {
  const given = conditions.filter(({ path }) => path.trim() !== "");
  const where = Object.fromEntries(given.map(({ path, value }) => [path.trim(), typedValue(value)]));
  return {
    tools: tools.trim(),
    action,
    ...(given.length > 0 && { where }),
    ...(approvers.trim() !== "" && { approvers: Number(approvers) }),
    ...(holdResult && { holdResult }),
  };
}

/** The first that is wrong; empty where nothing is. */
export function ruleFault({ tools, conditions, approvers, action, holdResult }: RuleFields): string {
  if (tools.trim() === "") return "Say which tools the rule is about: files.delete, files.* or **.";
  const paths = conditions.map(({ path }) => path.trim()).filter((path) => path !== "");
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) return `Two conditions are about ${twice}: keep one of them.`;
  if (!/^(?:[1-9]\d{0,2})?$/.test(approvers.trim())) return "Approvers: a number from 1 to 999, or nothing.";
  if (action === "deny" && holdResult) return "A call that is denied has no result to hold.";
  return "";
}

function typedValue(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) || Array.isArray(value) ? text : value;
  } catch {
    return text;
  }
}

function typedText(value: unknown): string {
  return typeof value === "string" && typedValue(value) === value ? value : JSON.stringify(value);
}

export function moved<T>(list: readonly T[], index: number, by: 1 | -1): T[] {
  const next = [...list];
  const [item] = next.splice(index, 1) as [T];
  next.splice(index + by, 0, item);
  return next;
}

/** `where` in words. */
export function conditionText({ where = {} }: Rule): string {
  return Object.entries(where)
    .map(([path, value]) => `${path} is ${JSON.stringify(value)}`)
    .join(" and ");
}

/** The tools each rule decides about; one without conditions leaves nothing for those after it. */
export function matchesOf(
  rules: readonly Rule[],
  names: readonly string[],
  root: string | undefined,
): string[][] {
  let open = [...names];
  return rules.map(({ tools, where = {} }) => {
    const matches = open.filter((name) => matchesTool(root, tools, withoutRoot(root, name)));
    if (Object.keys(where).length === 0) open = open.filter((name) => !matches.includes(name));
    return matches;
  });
}

export interface TriedCall {
  tool: string;
  before: string;
  after: string;
  isConditional: boolean;
  count: number;
}

/** The last calls by tool, those that would be different first. */
export function triedCalls(calls: unknown): TriedCall[] {
  const byTool = new Map<string, TriedCall>();
  for (const { tool, before, after, isConditional, count } of Array.isArray(calls)
    ? calls.filter(isObject)
    : []) {
    const name = String(tool);
    const known = byTool.get(name)?.count ?? 0;
    const one = { before: String(before), after: String(after), isConditional: isConditional === true };
    byTool.set(name, { tool: name, ...one, count: known + Number(count) });
  }
  const isDifferent = (one: TriedCall) => Number(one.before !== one.after);
  return [...byTool.values()].sort((a, b) => isDifferent(b) - isDifferent(a) || b.count - a.count);
}
