import { expect, test } from "vitest";
import { dialectFor } from "./dialect-for.ts";

const none = { names: null, profile: undefined, info: undefined };
const strict = { name: "p", tools: [], dialect: "strict" as const };

test("the address counts before the profile, the profile before the client", () => {
  const info = { name: "claude-ai" };
  expect(dialectFor({ names: "canonical", profile: strict, info })).toBe("canonical");
  expect(dialectFor({ names: null, profile: strict, info })).toBe("strict");
  expect(dialectFor({ names: null, profile: { name: "p", tools: [] }, info })).toBe("safe");
  expect(dialectFor(none)).toBe("canonical");
});

test.each([
  "claude-ai",
  "Claude Desktop",
  "claude-code",
  "openai-mcp",
  "ChatGPT",
  "codex-mcp-client",
  "cursor-vscode",
  "gemini-cli-mcp-client",
])("[AX-4.1-1] %s refuses dots", (name) => {
  expect(dialectFor({ ...none, info: { name } })).toBe("safe");
});

test.each(["Visual Studio Code", "mcp-inspector", "precursor", "my-client", "", 7, null])(
  "%j takes names as they are",
  (name) => {
    expect(dialectFor({ ...none, info: { name } })).toBe("canonical");
  },
);

test.each(["", "SAFE", "toString"])("%j is no dialect", (names) => {
  expect(() => dialectFor({ ...none, names })).toThrow(expect.objectContaining({ code: "bad_request" }));
});
