import { cautious } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { classify, type Rule, type RuleAction, type Verdict } from "../rules.ts";
import { weakens } from "./authority-state.ts";
import { isWeakerPolicy, type Policy } from "./weaker-rules.ts";

const policy = (rules: readonly Rule[], more: Partial<Policy> = {}): Policy => ({
  rules,
  unannotated: "ask",
  quorum: 1,
  ...more,
});
const rule = (tools: string, action: RuleAction, more: Partial<Rule> = {}): Rule => ({
  tools,
  action,
  ...more,
});
const denied = rule("git.push", "deny");
const asked = rule("files.*", "ask");

test.each<[string, Policy, Policy, boolean]>([
  ["the same rules", policy([denied, asked]), policy([denied, asked]), false],
  ["a rule that allows", policy([]), policy([rule("a.*", "allow")]), true],
  ["a rule that asks, where it was asked for anyway", policy([]), policy([asked]), false],
  ["a rule that asks before one that denies", policy([denied]), policy([rule("git.*", "ask"), denied]), true],
  ["a rule that asks after one that denies", policy([denied]), policy([denied, asked]), false],
  ["a denial is gone", policy([denied, asked]), policy([asked]), true],
  ["an allowance is gone", policy([rule("a.*", "allow"), denied]), policy([denied]), false],
  [
    "an allowance whose result was held is gone",
    policy([rule("a", "allow", { holdResult: true })]),
    policy([]),
    true,
  ],
  ["another order", policy([denied, asked]), policy([asked, denied]), true],
  ["two instead of one", policy([asked]), policy([{ ...asked, approvers: 2 }]), false],
  ["one instead of two", policy([{ ...asked, approvers: 2 }]), policy([asked]), true],
  ["the quorum does the same", policy([{ ...asked, approvers: 2 }]), policy([asked], { quorum: 2 }), false],
  ["a smaller quorum", policy([], { quorum: 2 }), policy([]), true],
  ["what says nothing is let through", policy([]), policy([], { unannotated: "allow" }), true],
  ["what says nothing is asked for", policy([], { unannotated: "allow" }), policy([]), false],
  ["another root under the same rules", policy([denied]), policy([denied], { root: "plant" }), true],
  [
    "an allowance with a condition becomes a question, which more calls fit than the allowance",
    policy([rule("a.*", "allow", { where: { path: "/tmp/**" } }), rule("a.*", "deny")]),
    policy([rule("a.*", "ask", { where: { path: "/tmp/**" } }), rule("a.*", "deny")]),
    true,
  ],
  ["no policy at all", policy([]), null as never, true],
])("[B-KEY-2] %s", (_what, before, after, isWeaker) => {
  expect(isWeakerPolicy(before, after)).toBe(isWeaker);
});

const rules = fc.array(
  fc.record(
    {
      tools: fc.constantFrom("**", "a.*", "a.x", "b.*", "b.y"),
      action: fc.constantFrom<RuleAction>("allow", "ask", "always_ask", "deny"),
      where: fc.constantFrom({}, { path: "/tmp/**" }, { path: "/**" }, { count: 1 }),
      approvers: fc.constantFrom(1, 2),
      holdResult: fc.boolean(),
    },
    { requiredKeys: ["tools", "action"] },
  ),
  { maxLength: 4 },
);
const policies = fc.record({
  rules,
  unannotated: fc.constantFrom("ask" as const, "allow" as const),
  quorum: fc.constantFrom(1, 2),
});
const calls = ["a.x", "a.z", "b.y", "c.q"].flatMap((tool) =>
  [{}, { path: "/tmp/f" }, { path: "/etc" }, { path: 3 }, { path: "/tmp/../etc" }, { count: 1 }].map(
    (given) => ({
      tool,
      given,
    }),
  ),
);
const order = ["allow", "ask", "always_ask", "deny"];

/** What decides about a call, and what somebody else would have to decide. */
function isMilder(before: Verdict, after: Verdict): boolean {
  if (after.action === "deny") return false;
  if (order.indexOf(after.action) < order.indexOf(before.action)) return true;
  if (before.holdResult && !after.holdResult) return true;
  const isAsked = before.action !== "allow" || before.holdResult;
  return isAsked && after.approvers < before.approvers;
}

function mildened(before: Policy, after: Policy): unknown {
  const said = [
    { capability: cautious, isAnnotated: false },
    { capability: cautious, isAnnotated: true },
    { capability: { ...cautious, mutable: false, reversible: true }, isAnnotated: true },
  ];
  return calls.find(({ tool, given }) =>
    said.some((of) => {
      const verdict = (one: Policy) => classify({ tool, ...of, arguments: given, ...one, isPanic: false });
      return isMilder(verdict(before), verdict(after));
    }),
  );
}

test("[B-KEY-2] what is not called weaker makes no call pass more easily", () => {
  let kept = 0;
  fc.assert(
    fc.property(policies, policies, fc.nat(3), (before, other, place) => {
      // Mostly small edits: two random lists are hardly ever comparable.
      const [first] = other.rules;
      const put = (rules: Rule[]) => ({ ...before, rules });
      const added = before.rules.toSpliced(place, other.rules.length % 2, ...(first ? [first] : []));
      const changed = before.rules.map((one, index) =>
        index === place && first ? { ...one, action: first.action, holdResult: first.holdResult } : one,
      );
      for (const after of [other, put(added), put(changed)]) {
        if (isWeakerPolicy(before, after)) continue;
        kept += 1;
        expect(mildened(before, after)).toBeUndefined();
      }
    }),
    { numRuns: 2_000 },
  );
  expect(kept).toBeGreaterThan(200);
});

test("[B-KEY-2] one more that looks on weakens nothing; one that is gone, or is another, does", () => {
  for (const key of ["scanner/dlp", "audit/siem"]) {
    const before = new Map([[key, { url: "https://a.example" }]]);
    expect(weakens(new Map(), { key, value: { url: "https://a.example" } })).toBe(false);
    expect(weakens(before, { key, value: { url: "https://a.example" } })).toBe(false);
    expect(weakens(before, { key, value: { url: "https://b.example" } })).toBe(true);
    expect(weakens(before, { key, value: null })).toBe(true);
  }
});
