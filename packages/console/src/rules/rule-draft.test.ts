import { expect, test } from "vitest";
import { fieldsOf, matchesOf, moved, type RuleFields, ruleFault, ruleOf, triedCalls } from "./rule-draft.ts";

const fields = (more: Partial<RuleFields> = {}): RuleFields => ({
  ...{ tools: "files.*", action: "ask", conditions: [], approvers: "", holdResult: false },
  ...more,
});

test.each<[text: string, value: unknown]>([
  ["/tmp/**", "/tmp/**"],
  ["7", 7],
  ['"7"', "7"],
  ["true", true],
  ["null", null],
  ['{"a":1}', '{"a":1}'],
  ["", ""],
])("a condition typed as %j means %j, and is shown as it was typed", (text, value) => {
  const rule = ruleOf(fields({ conditions: [{ path: " path ", value: text }] }));
  expect(rule.where).toEqual({ path: value });
  expect(fieldsOf(rule).conditions).toEqual([{ path: "path", value: text }]);
});

test("only what is given is in the rule", () => {
  expect(ruleOf(fields({ conditions: [{ path: "", value: "x" }] }))).toEqual({
    tools: "files.*",
    action: "ask",
  });
  const all = fields({ tools: " a ", approvers: "2", holdResult: true });
  expect(ruleOf(all)).toEqual({ tools: "a", action: "ask", approvers: 2, holdResult: true });
  expect(fieldsOf(ruleOf(all))).toEqual({ ...all, tools: "a" });
});

test.each<[fault: RegExp, more: Partial<RuleFields>]>([
  [/which tools/, { tools: " " }],
  [
    /about a: keep/,
    {
      conditions: [
        { path: "a", value: "1" },
        { path: " a", value: "2" },
      ],
    },
  ],
  [/number from 1/, { approvers: "0" }],
  [/no result/, { action: "deny", holdResult: true }],
  [/^$/, { approvers: "12", holdResult: true }],
])("what is wrong is said before it is sent: %s", (fault, more) => {
  expect(ruleFault(fields(more))).toMatch(fault);
});

test("a rule moves up and down, and the others keep their order", () => {
  expect(moved(["a", "b", "c"], 2, -1)).toEqual(["a", "c", "b"]);
  expect(moved(["a", "b", "c"], 0, 1)).toEqual(["b", "a", "c"]);
});

test("a rule without conditions leaves nothing for those after it", () => {
  const rules = [
    { tools: "files.delete", action: "ask", where: { path: "/tmp/*" } },
    { tools: "files.*", action: "deny" },
    { tools: "**", action: "ask" },
  ];
  const names = ["infra.files.delete", "infra.files.read", "infra.shop.buy"];
  expect(matchesOf(rules, names, "infra")).toEqual([
    ["infra.files.delete"],
    ["infra.files.delete", "infra.files.read"],
    ["infra.shop.buy"],
  ]);
});

test("tried calls are counted by tool, and those that would be different come first", () => {
  const call = (tool: string, before: string, after: string, count = 1) => ({
    ...{ tool, before, after, count, isConditional: false },
  });
  expect(
    triedCalls([call("a", "ask", "ask", 5), call("b", "allow", "ask"), call("b", "allow", "ask", 2), 7]),
  ).toEqual([call("b", "allow", "ask", 3), call("a", "ask", "ask", 5)]);
});
