import { expect, test } from "vitest";
import { dialectFor } from "./dialect-for.ts";

const none = { names: null, profile: undefined, capabilities: {} };
const strict = { name: "p", tools: [], dialect: "strict" as const };
const asTree = { extensions: { "org.mcpax/aggregator": {} } };

test("[B-CLIENT-2] clients get names every model takes, unless they ask for others", () => {
  expect(dialectFor(none)).toBe("safe");
  expect(dialectFor({ ...none, profile: { name: "p", tools: [] } })).toBe("safe");
  expect(dialectFor({ ...none, names: "canonical" })).toBe("canonical");
});

test("[B-CLIENT-2] other trees see dotted names: the one above, and one that says it is a tree", () => {
  expect(dialectFor({ ...none, isParent: true })).toBe("canonical");
  expect(dialectFor({ ...none, capabilities: asTree })).toBe("canonical");
});

test.each([
  { extensions: { "org.mcpax/aggregator": true } },
  { extensions: ["org.mcpax/aggregator"] },
  { extensions: null },
  { "org.mcpax/aggregator": {} },
])("%j is no tree", (capabilities) => {
  expect(dialectFor({ ...none, capabilities })).toBe("safe");
});

test("the address counts before the profile, the profile before the client", () => {
  expect(dialectFor({ names: "canonical", profile: strict, capabilities: {} })).toBe("canonical");
  expect(dialectFor({ names: "safe", profile: strict, capabilities: asTree })).toBe("safe");
  expect(dialectFor({ names: null, profile: strict, capabilities: asTree })).toBe("strict");
});

test.each(["", "SAFE", "toString"])("%j is no dialect", (names) => {
  expect(() => dialectFor({ ...none, names })).toThrow(expect.objectContaining({ code: "bad_request" }));
});
