import { expect, test } from "vitest";
import { placeAt } from "./resources.ts";

const issuer = "https://gate.example";

test("the tree, a profile and a room are places to sign in to", () => {
  expect(placeAt(issuer, `${issuer}/mcp`)).toEqual({ kind: "tree", name: undefined });
  expect(placeAt(issuer, `${issuer}/mcp/`)).toEqual({ kind: "tree", name: undefined });
  expect(placeAt(issuer, `${issuer}/mcp?names=safe`)).toEqual({ kind: "tree", name: undefined });
  expect(placeAt(issuer, `${issuer}/mcp/work`)).toEqual({ kind: "profile", name: "work" });
  expect(placeAt(issuer, `${issuer}/rooms/team%2Fa/mcp`)).toEqual({ kind: "room", name: "team/a" });
});

test("nothing else is", () => {
  const bad = [
    `${issuer}/`,
    `${issuer}/admin`,
    `${issuer}/mcp/a/b`,
    `${issuer}/rooms//mcp`,
    `${issuer}/rooms/%ff/mcp`,
    `${issuer}/mcp#x`,
    "http://gate.example/mcp",
    "https://gate.example.evil/mcp",
    "https://a@gate.example/mcp",
    "mcp",
    `${issuer}/mcp?${"x".repeat(1_000)}`,
  ];
  for (const one of bad) expect(placeAt(issuer, one), one).toBeUndefined();
});
