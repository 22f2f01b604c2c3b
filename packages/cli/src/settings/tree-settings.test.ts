import { expect, test } from "vitest";
import type { Config } from "../config/config.ts";
import { treeSettings } from "./tree-settings.ts";

const settings = (config: Config) =>
  treeSettings(config, { dir: "/etc/mcpx", env: { PATH: "/bin", MCPX_TOKEN: "secret" } });

test("a server's segment is made from its name unless it is given", () => {
  const { servers } = settings({
    mcpServers: {
      "My Files": { command: "files" },
      GitHub: { url: "https://example.com/mcp", segment: "gh" },
      off: { command: "x", disabled: true },
      main: { command: "y", root: true },
    },
  });
  expect(servers.map(({ name, segment }) => [name, segment])).toEqual([
    ["My Files", "my_files"],
    ["GitHub", "gh"],
    ["main", undefined],
  ]);
});

test.each([
  ["two of one segment", { "a b": { command: "x" }, a_b: { command: "y" } }, /a_b.*belongs to a b/],
  ["our own segment", { mcpax: { command: "x" } }, /mcpax.*belongs to mcpx itself/],
  ["two at the root", { a: { command: "x", root: true }, b: { command: "y", root: true } }, /the root/],
])("%s is a failure that names both", (_what, mcpServers, text) => {
  expect(() => settings({ mcpServers })).toThrow(text);
});

test("profiles become filters with their dialect", () => {
  expect(settings({ profiles: { read: { tools: ["*.read_*"], names: "safe" } } }).profiles).toEqual([
    { name: "read", tools: ["*.read_*"], dialect: "safe" },
  ]);
});
