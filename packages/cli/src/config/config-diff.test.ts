import { expect, test } from "vitest";
import type { Config } from "./config.ts";
import { diffConfig, diffLines, takenOver } from "./config-diff.ts";

const lines = (before: Config, after: Config) => diffLines(diffConfig(before, after));
const files = { command: "npx", args: ["files"], env: { TOKEN: "one", MODE: "fast" } };

test("servers and profiles that came, went and changed have a line each, with keys and no values", () => {
  const before: Config = {
    mcpServers: { files, notes: { url: "https://a.example/mcp" }, github: { url: "https://b.example/mcp" } },
    profiles: { read: { tools: ["*.read_*"] }, gone: { tools: [] } },
  };
  const after: Config = {
    mcpServers: {
      added: { command: "x" },
      github: { url: "https://c.example/mcp?key=secret", headers: { Authorization: "Bearer secret" } },
      files: { ...files, env: { TOKEN: "secret", MODE: "fast" } },
    },
    profiles: { read: { tools: ["*.read_*"], search: true }, fresh: { tools: [] } },
  };
  const shown = lines(before, after);
  expect(shown).toEqual([
    "+ added",
    "- notes",
    "~ github: url, headers.Authorization",
    "~ files: env.TOKEN",
    "+ profile fresh",
    "- profile gone",
    "~ profile read: search",
  ]);
  expect(shown.join()).not.toContain("secret");
});

test("the order of names and keys is no difference", () => {
  const { args, command, env } = files;
  const one: Config = { mcpServers: { a: files, b: { command: "b" } } };
  const other: Config = { mcpServers: { b: { command: "b" }, a: { env, command, args } } };
  expect(lines(one, other)).toEqual([]);
});

test("a disabled server is not there", () => {
  const [on, off]: Config[] = [
    { mcpServers: { files } },
    { mcpServers: { files: { ...files, disabled: true } } },
  ];
  expect([lines(on as Config, off as Config), lines(off as Config, on as Config)]).toEqual([
    ["- files"],
    ["+ files"],
  ]);
});

test("everything else needs a restart, and is named", () => {
  const before: Config = { listen: { port: 1 }, mode: "mixed", limits: { toMax: 5 } };
  const after: Config = {
    listen: { port: 2, host: "::1" },
    mode: "secure",
    segment: "s",
    limits: { toMax: 5 },
  };
  expect(diffConfig(before, after).restart).toEqual(["listen.port", "listen.host", "mode", "segment"]);
});

test("what decides which calls wait counts at once; the rest of the gates needs a restart", () => {
  const before: Config = { gates: { quorum: 1, hold: 1_000 }, mode: "mixed" };
  const after: Config = { gates: { rules: [{ tools: "a", action: "ask" }], hold: 2_000 }, mode: "open" };
  const diff = diffConfig(before, after);
  expect(diffLines(diff)).toEqual(["~ gates: quorum, rules"]);
  expect(diff.restart).toEqual(["mode", "gates.hold"]);
  expect(takenOver(before, after)).toEqual({
    ...{ mcpServers: {}, profiles: {}, mode: "mixed" },
    gates: { rules: [{ tools: "a", action: "ask" }], hold: 1_000 },
  });
  expect(diffLines(diffConfig(takenOver(before, after), after))).toEqual([]);
});

test("names that could steer a terminal are shown", () => {
  expect(lines({}, { mcpServers: { "a\u001b[2J": { command: "x" } } })).toEqual(["+ a\\u001b[2J"]);
});
