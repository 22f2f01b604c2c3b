import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { McpxError } from "../errors.ts";
import {
  type AccessPolicy,
  accesses,
  defaultPolicy,
  judge,
  type PolicyRule,
  policyModes,
  readPolicy,
  ruleEffects,
  stricterVerdict,
  type Verdict,
} from "./policy.ts";

const nowMs = Date.parse("2026-11-16T12:00:00Z");
const past = "2026-11-16T11:59:59Z";
const future = "2026-11-16T12:00:01Z";
const ask = (policy: AccessPolicy, agent: string, tool: string, isHuman = false) =>
  judge(policy, { agent, tool, isHuman, nowMs });

describe("policies", () => {
  test("[AC-1-4] allowlist: who is listed is granted, the others have to ask", () => {
    const policy: AccessPolicy = { mode: "allowlist", rules: [{ agent: "ann", tools: ["heat"] }] };
    expect(ask(policy, "ann", "heat").access).toBe("granted");
    expect(ask(policy, "ann", "clean").access).toBe("ask");
    expect(ask(policy, "bob", "heat").access).toBe("ask");
  });

  test("[AC-1-5] denylist: who is listed is denied, the others are granted", () => {
    const policy: AccessPolicy = { mode: "denylist", rules: [{ agent: "mallory", tools: "*" }] };
    expect(ask(policy, "mallory", "heat").access).toBe("denied");
    expect(ask(policy, "ann", "heat").access).toBe("granted");
  });

  test("[AC-1-6] open: nobody needs a capability", () => {
    expect(ask({ mode: "open" }, "anybody", "heat")).toEqual({ access: "open", needsApproval: false });
  });

  test("[AC-1-7] hybrid: rules are the exceptions from the default", () => {
    const rules = [{ agent: "ann", tools: ["heat"] }];
    expect(ask({ mode: "hybrid", default: "deny", rules }, "ann", "heat").access).toBe("granted");
    expect(ask({ mode: "hybrid", default: "deny", rules }, "bob", "heat").access).toBe("denied");
    expect(ask({ mode: "hybrid", default: "ask", rules }, "ann", "heat").access).toBe("granted");
    expect(ask({ mode: "hybrid", default: "ask", rules }, "bob", "heat").access).toBe("ask");
    expect(ask({ mode: "hybrid", default: "allow", rules }, "ann", "heat").access).toBe("denied");
    expect(ask({ mode: "hybrid", default: "allow", rules }, "bob", "heat").access).toBe("granted");
  });

  test("[AC-1-8] a rule names one agent or everybody, and some tools or all of them", () => {
    const policy = (agent: string, tools: PolicyRule["tools"]): AccessPolicy =>
      readPolicy({ mode: "allowlist", rules: [{ agent, tools }] });
    expect(ask(policy("*", ["heat"]), "bob", "heat").access).toBe("granted");
    expect(ask(policy("*", ["heat"]), "bob", "clean").access).toBe("ask");
    expect(ask(policy("ann", "*"), "ann", "clean").access).toBe("granted");
    expect(ask(policy("ann", "*"), "bob", "clean").access).toBe("ask");
    // Only alone is it a wildcard.
    expect(ask(policy("ann", ["*"]), "ann", "clean").access).toBe("ask");
  });

  test("[AC-1-4] default deny: who no rule names is denied, who is named for other tools has to ask", () => {
    const rules = [{ agent: "ann", tools: ["heat"], expires: future }];
    const policy: AccessPolicy = { mode: "allowlist", default: "deny", rules };
    expect(ask(policy, "ann", "heat").access).toBe("granted");
    expect(ask(policy, "ann", "clean").access).toBe("ask");
    expect(ask(policy, "bob", "heat").access).toBe("denied");
    expect(ask(policy, "bob", "heat", true).access).toBe("open");
    // A rule that is over names nobody.
    const over: AccessPolicy = { ...policy, rules: [{ agent: "ann", tools: ["heat"], expires: past }] };
    expect(ask(over, "ann", "clean").access).toBe("denied");
  });

  test("[AC-1-9] a rule is there until it expires", () => {
    const policy = (expires: string): AccessPolicy => ({
      mode: "allowlist",
      rules: [{ agent: "ann", tools: "*", expires }],
    });
    expect(ask(policy(future), "ann", "heat").access).toBe("granted");
    expect(ask(policy(past), "ann", "heat").access).toBe("ask");
  });

  test("[AC-9-5] humans need no capability unless the owner says so; approvals stay", () => {
    const rules = [{ agent: "user-1", tools: "*" as const, requires_approval: true }];
    const policy: AccessPolicy = { mode: "allowlist", rules };
    expect(ask(policy, "user-1", "heat", true)).toEqual({ access: "open", needsApproval: true });
    expect(ask(policy, "user-2", "heat", true)).toEqual({ access: "open", needsApproval: false });
    expect(ask({ ...policy, humans: false }, "user-2", "heat", true).access).toBe("ask");
    const denied: AccessPolicy = { mode: "denylist", rules: [{ agent: "user-3", tools: "*" }] };
    expect(ask(denied, "user-3", "heat", true).access).toBe("denied");
  });

  test("[AC-1-3] without a policy what only reads is open, the rest needs a capability", () => {
    const policy = defaultPolicy(["look"]);
    expect(ask(policy, "ann", "look").access).toBe("open");
    expect(ask(policy, "ann", "heat").access).toBe("ask");
    expect(ask(defaultPolicy([]), "ann", "look").access).toBe("ask");
  });

  test("[AC-1-8] what is not understood is refused whole", () => {
    const bad: unknown[] = [
      undefined,
      "open",
      {},
      { mode: "openish" },
      { mode: "hybrid" },
      { mode: "open", more: 1 },
      { mode: "open", humans: "yes" },
      { mode: "open", default: "maybe" },
      { mode: "open", rules: {} },
      { mode: "open", rules: [{ tools: "*" }] },
      { mode: "open", rules: [{ agent: "a b", tools: "*" }] },
      { mode: "open", rules: [{ agent: "a", tools: [] }] },
      { mode: "open", rules: [{ agent: "a", tools: [1] }] },
      { mode: "open", rules: [{ agent: "a", tools: "*", expires: "tomorrow" }] },
      { mode: "open", rules: [{ agent: "a", tools: "*", requires_approval: 1 }] },
      { mode: "open", rules: [{ agent: "a", tools: "*", effect: "permit" }] },
      { mode: "open", rules: [{ agent: "a", tools: "*", requiresApproval: true }] },
      { mode: "open", rules: Array.from({ length: 257 }, () => ({ agent: "a", tools: "*" })) },
    ];
    for (const value of bad) expect(() => readPolicy(value), JSON.stringify(value)).toThrow(McpxError);
  });
});

const agents = fc.constantFrom("ann", "bob", "mallory", "*");
const tools = fc.oneof(
  fc.constant("*" as const),
  fc.uniqueArray(fc.constantFrom("heat", "look", "clean"), { minLength: 1 }),
);
const rule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    agent: agents,
    tools,
    expires: fc.constantFrom(past, future),
    requires_approval: fc.boolean(),
    effect: fc.constantFrom(...ruleEffects),
  },
  { requiredKeys: ["agent", "tools"] },
);
const policies: fc.Arbitrary<AccessPolicy> = fc.record({
  mode: fc.constantFrom(...policyModes),
  default: fc.constantFrom("allow" as const, "ask" as const, "deny" as const),
  rules: fc.array(rule, { maxLength: 6 }),
  humans: fc.boolean(),
});
const questions = fc.record({
  agent: fc.constantFrom("ann", "bob", "mallory", "stranger"),
  tool: fc.constantFrom("heat", "look", "clean", "other"),
  isHuman: fc.boolean(),
  nowMs: fc.constant(nowMs),
});
const rank = ({ access }: Verdict) => accesses.indexOf(access);

describe("laws of policies", () => {
  test("[AC-1-2] a deny rule beats everything, wherever it stands", () => {
    fc.assert(
      fc.property(policies, questions, fc.nat(6), (policy, question, at) => {
        const deny: PolicyRule = { agent: question.agent, tools: [question.tool], effect: "deny" };
        const rules = (policy.rules ?? []).toSpliced(at, 0, deny);
        expect(judge({ ...policy, rules }, question).access).toBe("denied");
      }),
    );
  });

  test("the order of rules changes nothing", () => {
    fc.assert(
      fc.property(policies, questions, (policy, question) => {
        const turned = { ...policy, rules: (policy.rules ?? []).toReversed() };
        expect(judge(turned, question)).toEqual(judge(policy, question));
      }),
    );
  });

  test("[AC-1-9] expired rules and rules about others change nothing", () => {
    fc.assert(
      fc.property(policies, questions, rule, (policy, question, extra) => {
        const { rules = [] } = policy;
        for (const more of [
          { ...extra, expires: past },
          { ...extra, agent: "nobody-here" },
        ]) {
          expect(judge({ ...policy, rules: [...rules, more] }, question)).toEqual(judge(policy, question));
        }
        // A rule about other tools makes its agent a listed one, who may ask; it gives nothing, and a denial not even that.
        const { access } = judge(policy, question);
        const elsewhere = (effect: "allow" | "deny"): Verdict["access"] =>
          judge({ ...policy, rules: [...rules, { ...extra, tools: ["nothing-here"], effect }] }, question)
            .access;
        expect(elsewhere("deny")).toBe(access);
        expect([access, access === "denied" ? "ask" : access]).toContain(elsewhere("allow"));
      }),
    );
  });

  test("[AC-1-10] a rule that wants approvals never makes fewer of them", () => {
    fc.assert(
      fc.property(policies, questions, rule, (policy, question, extra) => {
        const before = judge(policy, question);
        const after = judge({ ...policy, rules: [...(policy.rules ?? []), extra] }, question);
        expect(after.needsApproval || !before.needsApproval).toBe(true);
      }),
    );
  });

  test("[AC-9-6] of two policies the stricter counts, in either order, and never less than either", () => {
    fc.assert(
      fc.property(policies, policies, questions, (one, other, question) => {
        const [a, b] = [judge(one, question), judge(other, question)];
        const both = stricterVerdict(a, b);
        expect(both).toEqual(stricterVerdict(b, a));
        expect(rank(both)).toBe(Math.max(rank(a), rank(b)));
        expect(both.needsApproval).toBe(a.needsApproval || b.needsApproval);
      }),
    );
  });

  test("[AC-1-1] what is read from the wire judges as what was written", () => {
    fc.assert(
      fc.property(policies, questions, (policy, question) => {
        expect(judge(readPolicy(JSON.parse(JSON.stringify(policy))), question)).toEqual(
          judge(policy, question),
        );
      }),
    );
  });

  test("without `open` and without humans nothing is open", () => {
    fc.assert(
      fc.property(policies, questions, (policy, question) => {
        const rules = (policy.rules ?? []).filter(({ effect }) => effect !== "open");
        const mode = policy.mode === "open" ? "hybrid" : policy.mode;
        expect(judge({ ...policy, mode, rules, humans: false }, question).access).not.toBe("open");
      }),
    );
  });
});
