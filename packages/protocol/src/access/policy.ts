// Whom an owner lets at which of its tools: declared in the room, read from the wire, judged without a clock. Pure.
// [AC-1-1] [AC-1-2]
import { McpxError } from "../errors.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { isId } from "../names.ts";
import { isTimestamp, timestampMs } from "../time.ts";
import { coversTool, readTools, type ToolSet, toolsMax } from "./capability-token.ts";

export const policyModes = ["allowlist", "denylist", "open", "hybrid"] as const;
type PolicyMode = (typeof policyModes)[number];
/** `open` needs no capability, `allow` is granted for the asking, `deny` beats every capability. */
export const ruleEffects = ["open", "allow", "deny"] as const;
type RuleEffect = (typeof ruleEffects)[number];

export interface PolicyRule {
  /** A participant, or `*`. */
  agent: string;
  tools: ToolSet;
  /** RFC 3339; from then on the rule is not there. [AC-1-9] */
  expires?: string;
  /** Asks for each call, capability or not. [AC-1-10] */
  requires_approval?: boolean;
  /** What it does, where that is not what the mode says. */
  effect?: RuleEffect;
}

/** `ask`: a capability is needed, and a request for one is put to the owner's approver. */
const defaults = ["allow", "ask", "deny"] as const;
type PolicyDefault = (typeof defaults)[number];

export interface AccessPolicy {
  mode: PolicyMode;
  /** For participants no rule names; `ask` unless given, and `allow` in mode denylist. `deny` beats every capability. */
  default?: PolicyDefault;
  rules?: readonly PolicyRule[];
  /** Whether humans need no capability; they do not, unless this is false. [AC-9-5] */
  humans?: boolean;
}

/** What is asked of a policy. */
export interface AccessQuestion {
  agent: string;
  /** As the gateway has authenticated it. */
  isHuman: boolean;
  tool: string;
  nowMs: number;
}

/** From the widest to the strictest: no capability needed, one is given for the asking, one is needed, never. */
export const accesses = ["open", "granted", "ask", "denied"] as const;
export type Access = (typeof accesses)[number];

export interface Verdict {
  access: Access;
  needsApproval: boolean;
}

const rulesMax = 256;
const fields = ["mode", "default", "rules", "humans"];
const ruleFields = ["agent", "tools", "expires", "requires_approval", "effect"];

/** The policy that lets no participant do anything unasked. */
export const strictPolicy: AccessPolicy = { mode: "allowlist", humans: false };

/** What an owner without a policy means: what only reads is open, the rest needs a capability. [AC-1-3] */
export function defaultPolicy(readOnlyTools: readonly string[]): AccessPolicy {
  const rules: PolicyRule[] = [];
  for (let at = 0; at < readOnlyTools.length && rules.length < rulesMax; at += toolsMax) {
    rules.push({ agent: "*", tools: readOnlyTools.slice(at, at + toolsMax), effect: "open" });
  }
  return { mode: "allowlist", rules };
}

/** Every field, or `bad_system` with the one that is wrong: a rule that is not understood is not half obeyed. */
export function readPolicy(value: unknown): AccessPolicy {
  if (!isObject(value)) throw bad("policy", "an object");
  const strange = Object.keys(value).find((key) => !fields.includes(key));
  if (strange !== undefined) throw bad("policy", `made of ${fields.join(", ")}`);
  const mode = policyModes.find((known) => known === value.mode);
  if (mode === undefined) throw bad("policy.mode", `one of ${policyModes.join(", ")}`);
  const { rules = [], humans } = value;
  if (!Array.isArray(rules) || rules.length > rulesMax)
    throw bad("policy.rules", `at most ${rulesMax} rules`);
  if (humans !== undefined && typeof humans !== "boolean") throw bad("policy.humans", "true or false");
  const fallback = readDefault(value.default, mode);
  return {
    mode,
    ...(fallback === undefined ? {} : { default: fallback }),
    rules: rules.map(readRule),
    ...(humans === undefined ? {} : { humans }),
  };
}

/** Deny beats everything, then what opens, then what allows; without a rule the default counts. */
export function judge(policy: AccessPolicy, question: AccessQuestion): Verdict {
  const rules = (policy.rules ?? []).filter((rule) => concerns(rule, question));
  const effects = new Set(rules.map((rule) => effectOf(rule, policy)));
  const needsApproval = rules.some(
    (rule) => rule.requires_approval === true && effectOf(rule, policy) !== "deny",
  );
  if (effects.has("deny")) return { access: "denied", needsApproval };
  const isImplicit = question.isHuman && policy.humans !== false;
  if (isImplicit || effects.has("open")) return { access: "open", needsApproval };
  if (effects.has("allow")) return { access: "granted", needsApproval };
  return { access: accessWithoutRule(policy, question), needsApproval };
}

/** Until when what `judge` grants is granted, in ms since 1970: no capability outlives the rule it comes from. */
export function grantedUntilMs(policy: AccessPolicy, question: AccessQuestion): number {
  const ends = (policy.rules ?? [])
    .filter((rule) => concerns(rule, question) && effectOf(rule, policy) !== "deny")
    .map(({ expires }) => (expires === undefined ? Number.POSITIVE_INFINITY : timestampMs(expires)));
  return ends.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...ends);
}

/** Both count: the stricter access, and an approval where either wants one. [AC-9-6] */
export function stricterVerdict(a: Verdict, b: Verdict): Verdict {
  const access = accesses.indexOf(a.access) > accesses.indexOf(b.access) ? a.access : b.access;
  return { access, needsApproval: a.needsApproval || b.needsApproval };
}

function accessWithoutRule(policy: AccessPolicy, question: AccessQuestion): Access {
  if (policy.mode === "open") return "open";
  const fallback = policy.default ?? (policy.mode === "denylist" ? "allow" : "ask");
  if (fallback === "allow") return "granted";
  // A participant that rules name for other tools is not unlisted: it may ask for one more. [AC-1-7]
  return fallback === "deny" && !isListed(policy, question) ? "denied" : "ask";
}

function isListed(policy: AccessPolicy, { agent, nowMs }: AccessQuestion): boolean {
  return (policy.rules ?? []).some(
    (rule) =>
      (rule.agent === "*" || rule.agent === agent) &&
      isInForce(rule, nowMs) &&
      // One more denial never gives anybody more.
      effectOf(rule, policy) !== "deny",
  );
}

/** [AC-1-4] [AC-1-5] [AC-1-6] [AC-1-7] */
function effectOf({ effect }: PolicyRule, policy: AccessPolicy): RuleEffect {
  if (effect !== undefined) return effect;
  switch (policy.mode) {
    case "open":
      return "open";
    case "allowlist":
      return "allow";
    case "denylist":
      return "deny";
    case "hybrid":
      return policy.default === "allow" ? "deny" : "allow";
  }
}

function concerns(rule: PolicyRule, question: AccessQuestion): boolean {
  const { agent, tools } = rule;
  if (agent !== "*" && agent !== question.agent) return false;
  return coversTool(tools, question.tool) && isInForce(rule, question.nowMs);
}

function isInForce({ expires }: PolicyRule, nowMs: number): boolean {
  return expires === undefined || nowMs < timestampMs(expires);
}

function readDefault(value: unknown, mode: PolicyMode): PolicyDefault | undefined {
  const known = defaults.find((word) => word === value);
  if (known === undefined && (value !== undefined || mode === "hybrid")) {
    throw bad("policy.default", `one of ${defaults.join(", ")}`);
  }
  return known;
}

function readRule(value: unknown): PolicyRule {
  if (!isObject(value) || Object.keys(value).some((key) => !ruleFields.includes(key))) {
    throw bad("policy.rules", `made of ${ruleFields.join(", ")}`);
  }
  const { agent, expires, requires_approval } = value as JsonObject;
  const tools = readTools(value.tools);
  const effect = ruleEffects.find((known) => known === value.effect);
  if (agent !== "*" && !isId(agent)) throw bad("policy.rules.agent", "a participant's id or *");
  if (tools === undefined) throw bad("policy.rules.tools", `* or 1 to ${toolsMax} names`);
  if (expires !== undefined && !isTimestamp(expires)) throw bad("policy.rules.expires", "an RFC 3339 time");
  if (requires_approval !== undefined && typeof requires_approval !== "boolean") {
    throw bad("policy.rules.requires_approval", "true or false");
  }
  if (value.effect !== undefined && effect === undefined) {
    throw bad("policy.rules.effect", `one of ${ruleEffects.join(", ")}`);
  }
  return {
    agent,
    tools,
    ...(expires === undefined ? {} : { expires }),
    ...(requires_approval === undefined ? {} : { requires_approval }),
    ...(effect === undefined ? {} : { effect }),
  };
}

function bad(field: string, wanted: string): McpxError {
  return new McpxError("bad_system", `payload.${field} must be ${wanted}`);
}
