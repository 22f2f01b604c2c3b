import { expect, test } from "vitest";
import { type RightsRule, rightsOf } from "./rights.ts";

const rules: RightsRule[] = [
  { claims: { groups: ["ops", "sre"] }, admin: true, topics: ["**"], level: "full" },
  { claims: { groups: ["engineers"], country: ["CH"] }, tools: ["notes.*"], topics: ["team/*"] },
  { claims: { "realm_access.roles": ["reader"] }, tools: ["notes.*"], level: "responder" },
  { claims: {}, admin: true },
];

test("a person has what all rules give that fit, the highest level among it", () => {
  expect(rightsOf({ groups: ["sre", "x"] }, rules)).toEqual({
    fitting: [0],
    rights: { admin: true, topics: ["**"], tools: [], level: "full" },
  });
  const both = { groups: ["engineers"], country: "CH", realm_access: { roles: ["reader"] } };
  expect(rightsOf(both, rules)).toEqual({
    fitting: [1, 2],
    rights: { admin: false, topics: ["team/*"], tools: ["notes.*"], level: "responder" },
  });
});

test("where no rule fits there is nothing", () => {
  const nobody = [
    {},
    { groups: "Ops" },
    { groups: ["engineers"] },
    { groups: [["ops"]] },
    { groups: { 0: "ops" } },
    { realm_access: "reader" },
    JSON.parse('{"__proto__": {"groups": "ops"}}'),
  ];
  for (const claims of nobody)
    expect(rightsOf(claims, rules), JSON.stringify(claims)).toEqual({ fitting: [], rights: undefined });
});

test("a claim whose name has dots in it is found by its name first", () => {
  const named: RightsRule[] = [{ claims: { "https://app.example/groups": ["ops"] }, admin: true }];
  expect(rightsOf({ "https://app.example/groups": ["ops"] }, named).fitting).toEqual([0]);
});
