import { type Capability, cautious, parseExact } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { type ClassifyQuestion, classify, type Rule, type RuleAction } from "./rules.ts";

const harmless: Readonly<Capability> = { ...cautious, mutable: false, reversible: true };
const undoable: Readonly<Capability> = { ...cautious, mutable: true, reversible: true };

const ask = (more: Partial<ClassifyQuestion> = {}) =>
  classify({
    tool: "files.delete",
    capability: cautious,
    isAnnotated: true,
    arguments: {},
    rules: [],
    unannotated: "ask",
    isPanic: false,
    ...more,
  });

const actions: RuleAction[] = ["allow", "ask", "deny", "always_ask"];
const cautiousActions = actions.filter((action) => action !== "allow");

describe("without a rule", () => {
  test("[AX-11.3-7] what cannot be undone is asked for", () => {
    expect(ask()).toEqual({ action: "ask", why: "irreversible", approvers: 1, holdResult: false });
  });

  test.each([harmless, undoable])("[AX-11.3-7] the rest is let go", (capability) => {
    expect(ask({ capability })).toMatchObject({ action: "allow", why: "reversible" });
  });

  test.each(["ask", "allow"] as const)("tools that say nothing follow the operator: %s", (unannotated) => {
    const verdict = ask({ isAnnotated: false, unannotated });
    expect(verdict).toMatchObject({ action: unannotated, why: "unannotated" });
  });

  test("what the operator says of silent tools is not said of those that declare themselves irreversible", () => {
    expect(ask({ unannotated: "allow" })).toMatchObject({ action: "ask", why: "irreversible" });
  });
});

describe("rules", () => {
  test("the first that matches wins, and is named", () => {
    const rules: Rule[] = [
      { tools: "mail.*", action: "deny" },
      { tools: "files.delete", action: "always_ask", approvers: 2, holdResult: true },
      { tools: "**", action: "allow" },
    ];
    expect(ask({ rules })).toEqual({
      action: "always_ask",
      why: "rule 2",
      approvers: 2,
      holdResult: true,
      rule: rules[1],
    });
    expect(ask({ rules, tool: "mail.send" })).toMatchObject({ action: "deny", why: "rule 1" });
    expect(ask({ rules, tool: "lab.x.y" })).toMatchObject({ action: "allow", why: "rule 3", approvers: 1 });
  });

  test("parts of names end at dots, and case counts", () => {
    const rules: Rule[] = [{ tools: "files.*", action: "deny" }];
    expect(ask({ rules, tool: "files.a.b" }).action).toBe("ask");
    expect(ask({ rules, tool: "FILES.a" }).action).toBe("ask");
    expect(ask({ rules, tool: "files.a" }).action).toBe("deny");
  });

  test("fewer than one approver is one", () => {
    expect(ask({ rules: [{ tools: "**", action: "ask", approvers: 0 }] }).approvers).toBe(1);
  });
});

describe("arguments", () => {
  const decide = (action: RuleAction, where: Rule["where"], text: string) =>
    ask({ rules: [{ tools: "**", action, where }], arguments: parseExact(text) }).why === "rule 1";

  test.each(actions)("an argument that fits makes a rule match: %s", (action) => {
    expect(decide(action, { path: "/tmp/*" }, '{"path":"/tmp/x"}')).toBe(true);
    expect(decide(action, { "to.name": "bob" }, '{"to":{"name":"bob"}}')).toBe(true);
    expect(decide(action, { force: true, n: 1 }, '{"n":1.0,"force":true}')).toBe(true);
    expect(decide(action, { x: null }, '{"x":null}')).toBe(true);
    expect(decide(action, { n: 0.5 }, '{"n":5e-1}')).toBe(true);
  });

  test.each(actions)("an argument that does not fit does not: %s", (action) => {
    expect(decide(action, { path: "/tmp/*" }, '{"path":"/etc/x"}')).toBe(false);
    expect(decide(action, { path: "/tmp/*" }, '{"path":"/tmp/a/b"}')).toBe(false);
    expect(decide(action, { n: 2 ** 53 }, '{"n":9007199254740993}')).toBe(false);
    expect(decide(action, { force: true, n: 1 }, '{"n":1,"force":false}')).toBe(false);
  });

  const unclear: [string, Rule["where"], string][] = [
    ["is absent", { path: "/tmp/*" }, "{}"],
    ["is absent deep inside", { "to.name": "bob" }, '{"to":{}}'],
    ["is where no object is", { "to.name": "bob" }, '{"to":"bob"}'],
    ["stands under a key with a dot", { "to.name": "bob" }, '{"to.name":"bob"}'],
    ["is written otherwise", { path: "/tmp/*" }, '{"Path":"/tmp/x"}'],
    ["is a number for a text", { n: "1*" }, '{"n":1}'],
    ["is a text for a number", { n: 1 }, '{"n":"1"}'],
    ["is a text for true", { force: true }, '{"force":"true"}'],
    ["is one for true", { force: true }, '{"force":1}'],
    ["is null", { path: "/tmp/*" }, '{"path":null}'],
    ["is a list with it", { path: "/tmp/*" }, '{"path":["/tmp/x"]}'],
    ["is in a list", { "paths.0": "/tmp/*" }, '{"paths":["/tmp/x"]}'],
    ["is an object", { path: "/tmp/*" }, '{"path":{"rawJSON":"/tmp/x"}}'],
    ["is Object's own", { "constructor.name": "Object" }, "{}"],
    ["is the prototype's", { "__proto__.__proto__": null }, "{}"],
    ["climbs out again", { path: "/tmp/**" }, '{"path":"/tmp/../etc/passwd"}'],
    ["climbs at the end", { path: "/tmp/*" }, '{"path":"/tmp/.."}'],
    ["climbs the other way", { path: "C:*" }, '{"path":"C:\\\\tmp\\\\..\\\\x"}'],
    ["is in no object at all", { path: "**" }, "null"],
  ];

  test.each(unclear)("[AX-11.3-7] one that %s never lets a call go", (_title, where, text) => {
    expect(decide("allow", where, text)).toBe(false);
  });

  test.each(unclear)(
    "[AX-11.3-7] one that %s stops nothing from being asked or denied",
    (_title, where, text) => {
      for (const action of cautiousActions) expect(decide(action, where, text), action).toBe(true);
    },
  );

  test("a rule that names the very text means it, dots and all", () => {
    expect(decide("allow", { path: "../x" }, '{"path":"../x"}')).toBe(true);
  });

  test("two dots inside a word climb nowhere", () => {
    expect(decide("allow", { path: "/tmp/*" }, '{"path":"/tmp/a..b"}')).toBe(true);
  });

  test("no arguments at all are none", () => {
    const rules: Rule[] = [{ tools: "**", action: "allow", where: { a: "*" } }];
    expect(ask({ rules, arguments: undefined }).action).toBe("ask");
  });
});

describe("panic", () => {
  test("asks for everything that would be let go, and no grant helps", () => {
    const rules: Rule[] = [{ tools: "**", action: "allow", holdResult: true }];
    expect(ask({ rules, isPanic: true })).toMatchObject({
      action: "always_ask",
      why: "panic",
      holdResult: true,
    });
    expect(ask({ capability: harmless, isPanic: true })).toMatchObject({
      action: "always_ask",
      why: "panic",
    });
    const silent = ask({ isAnnotated: false, unannotated: "allow", isPanic: true });
    expect(silent).toMatchObject({ action: "always_ask", why: "panic" });
  });

  test("asks for what is asked for anyway, past all grants too", () => {
    expect(ask({ isPanic: true })).toMatchObject({ action: "always_ask", why: "irreversible" });
  });

  test("lets nothing go that is denied", () => {
    const rules: Rule[] = [{ tools: "**", action: "deny" }];
    expect(ask({ rules, isPanic: true })).toMatchObject({ action: "deny", why: "rule 1" });
  });
});
