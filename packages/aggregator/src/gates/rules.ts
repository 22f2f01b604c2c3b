// What the operator's rules say of a call: let it go, ask a human, or deny it. Pure. [AX-11.3-7]
import {
  type Capability,
  canonicalJson,
  isIrreversible,
  isObject,
  matchesGlob,
  matchesTool,
  numberOf,
} from "@mcpx/protocol";

export type RuleAction = "allow" | "ask" | "deny" | "always_ask";

export interface Rule {
  /** A glob over canonical names. */
  tools: string;
  action: RuleAction;
  /** What arguments must be, all of it: a dotted path, and a glob for texts (`*` ends at `/`) or the value itself. */
  where?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** How many must approve; the quorum unless given. */
  approvers?: number | undefined;
  /** Whether the agent sees the result only after somebody has looked at it. */
  holdResult?: boolean | undefined;
}

export interface ClassifyQuestion {
  /** Canonical, without the root's segment. */
  tool: string;
  /** The root's segment, which rules may write before names. */
  root?: string | undefined;
  capability: Readonly<Capability>;
  /** Whether the tool says anything of itself. */
  isAnnotated: boolean;
  /** Read exactly. */
  arguments: unknown;
  rules: readonly Rule[];
  unannotated: "ask" | "allow";
  /** How many must approve where no rule says so; one unless given. */
  quorum?: number | undefined;
  /** Everything is asked for, whatever was granted. */
  isPanic: boolean;
}

export interface Verdict {
  /** `always_ask` is never covered by a grant. */
  action: RuleAction;
  /** Rules are counted from one. */
  why: `rule ${number}` | "irreversible" | "unannotated" | "reversible" | "panic";
  approvers: number;
  holdResult: boolean;
  rule?: Rule;
}

/** The first rule that matches decides; without one, what the tool says of itself does. */
export function classify(question: ClassifyQuestion): Verdict {
  const verdict = byRules(question) ?? bySafety(question);
  return question.isPanic ? inPanic(verdict) : verdict;
}

function byRules({ tool, root, arguments: given, rules, quorum = 1 }: ClassifyQuestion): Verdict | undefined {
  const index = rules.findIndex((rule) => matchesTool(root, rule.tools, tool) && fitsArguments(rule, given));
  const rule = rules[index];
  if (rule === undefined) return undefined;
  const { action, approvers = quorum, holdResult = false } = rule;
  return { action, why: `rule ${index + 1}`, approvers: Math.max(1, approvers), holdResult, rule };
}

/** What says nothing is irreversible too, but there the operator may have chosen otherwise. */
function bySafety({ capability, isAnnotated, unannotated, quorum = 1 }: ClassifyQuestion): Verdict {
  const plain = { approvers: Math.max(1, quorum), holdResult: false };
  if (!isAnnotated) return { action: unannotated, why: "unannotated", ...plain };
  if (isIrreversible(capability)) return { action: "ask", why: "irreversible", ...plain };
  return { action: "allow", why: "reversible", ...plain };
}

/** No grant covers it: what was granted before is what panic is about. */
function inPanic(verdict: Verdict): Verdict {
  if (verdict.action === "deny") return verdict;
  return { ...verdict, action: "always_ask", why: verdict.action === "allow" ? "panic" : verdict.why };
}

/** Where nobody can tell whether an argument fits, an allowance does not count, and everything else does. */
function fitsArguments({ where = {}, action }: Rule, given: unknown): boolean {
  return Object.entries(where).every(([path, wanted]) => fits(at(given, path), wanted) ?? action !== "allow");
}

function at(given: unknown, path: string): unknown {
  let value = given;
  for (const key of path.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** `undefined`: it is not there, of another type, or means something else than it says. */
function fits(value: unknown, wanted: string | number | boolean | null): boolean | undefined {
  if (typeOf(value) !== typeOf(wanted)) return undefined;
  if (typeof value !== "string" || typeof wanted !== "string") {
    return canonicalJson(value) === canonicalJson(wanted);
  }
  if (value === wanted) return true;
  return hasStepUp(value) ? undefined : matchesGlob(wanted, value);
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return numberOf(value) === undefined ? typeof value : "number";
}

/** `/tmp/../etc` is not where it seems to be. */
function hasStepUp(text: string): boolean {
  return text.split("/").some((part) => part.split("\\").includes(".."));
}
