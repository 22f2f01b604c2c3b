import { expect, test } from "vitest";
import { hideSecrets, secretsIn, secretsOf } from "./secrets.ts";

test.each([
  [{ env: { GITHUB_TOKEN: "abcdef" } }, ["abcdef"]],
  [{ env: { OPENAI_API_KEY: "x", LOG_LEVEL: "debug", PORT: "3000" } }, ["x"]],
  [{ env: { ANYTHING: "ghp_0123456789abcdef" } }, ["ghp_0123456789abcdef"]],
  [{ env: { API_KEY: `\${env:API_KEY}`, AUTH: "true" } }, []],
  [{ headers: { Authorization: "Bearer s3cret", Accept: "text/plain" } }, ["s3cret"]],
  [{ headers: { Authorization: `Bearer \${env:T}` } }, []],
  [{ args: ["--api-key", "k1", "--port", "80", "--token=t1", "DB_PASSWORD=p1"] }, ["k1", "t1", "p1"]],
  [{ args: ["postgres://me:hunter2@db/x", "/home/me/Documents/notes/2026"] }, ["hunter2", "hunter2"]],
  [{ url: "https://x.example/mcp?api_key=zzz&page=2" }, ["zzz"]],
])("of %j the secrets are %j", (entry, expected) => {
  expect(secretsOf(entry)).toEqual(expected);
});

test("they are hidden in JSON and in plain text, short ones only by themselves", () => {
  expect(hideSecrets('{"a": "x\\"yzzz", "b": 1}', ['x"yzzz'])).toBe('{"a": "•••", "b": 1}');
  expect(hideSecrets('{"TOKEN": "a", "command": "cat"}', ["a"])).toBe('{"TOKEN": "•••", "command": "cat"}');
  expect(hideSecrets("--token=a", ["a"])).toBe("--token=•••");
});

test("they are found in any shape", () => {
  const file = {
    oauth: { accessToken: "aaa" },
    list: [{ env: { API_KEY: "bbb" }, args: ["--token", "ccc"] }],
    theme: "dark",
    url: "https://example.com/mcp",
  };
  expect(secretsIn(file)).toEqual(["aaa", "bbb", "ccc"]);
});
