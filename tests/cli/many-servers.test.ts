// Fifty servers at once, most of them slow, silent or dead: what is up can be used, and how far the others are is shown.
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpxCommand, programPath } from "../support/programs.ts";
import { newHome, put } from "./support/client-homes.ts";
import { mcpx, start, up } from "./support/mcpx-process.ts";

const tiny = programPath("tests/cli/support/tiny-server.ts");
const shell = (script: string) => ({ command: "sh", args: ["-c", script] });
const serving = `exec "${process.execPath}" "${tiny}"`;
const many = (count: number, name: string, server: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => [`${name}-${index + 1}`, server(index)] as const);

/** One is there at once, nine come one after the other, thirty never say a word, and ten end at once. */
const servers = Object.fromEntries([
  ["first", shell(serving)],
  ...many(9, "slow", (index) => shell(`sleep ${1 + index / 2}; ${serving}`)),
  ...many(30, "silent", (index) => shell(`exec sleep ${600 + index}`)),
  ...many(10, "dead", (index) => shell(`echo no database ${index} >&2; exit 1`)),
]);

test("after an import of 50 the first can be called while the others start, and their number grows", {
  timeout: 90_000,
}, async () => {
  const home = newHome([]);
  put(home.path("cursor"), JSON.stringify({ mcpServers: servers }));
  const dataDir = join(home.dir, "data");
  const options = { cwd: home.project, env: { ...home.env, MCPX_DATA: dataDir } };
  const gateway = await up(dataDir, [], options);
  const imported = await mcpx(["import", "--yes", "--unannotated", "allow"], options);
  expect(imported.out).toContain("wrote 50 servers to");
  expect(imported.err).toContain("watch them come up: npx mcpx tree");
  await gateway.line(/"\+ silent-30"/);

  const terminal = ["python3", join(import.meta.dirname, "support", "terminal.py")] as const;
  const tree = start(["tree"], { ...options, program: [...terminal, ...mcpxCommand] });
  const order: string[] = [];
  const watched = tree.ended.then(() => order.push("the tree"));
  const called = await mcpx(["call", "first.params", '{"a": 1}', "--yes"], options);
  order.push("the call");
  expect(called).toMatchObject({ code: 0, out: expect.stringContaining('"a":1') });
  await watched;
  expect(order).toEqual(["the call", "the tree"]);

  const shown = tree.out.flatMap((line) => /^(\d+) of 50 servers are up/.exec(line)?.[1] ?? []).map(Number);
  expect(shown.length).toBeGreaterThan(2);
  expect(shown).toEqual(shown.toSorted((a, b) => a - b));
  expect(tree.out.some((line) => /^\d+ of 50 servers are up, \d+ starting/.test(line))).toBe(true);
  const picture = tree.out.slice(tree.out.findIndex((line) => line.includes("mcpx http")));
  expect(picture[0]).toMatch(/ {2}10 of 50 servers are up, 30 ailing, 10 down$/);
  expect(picture.filter((line) => /● (first|slow-\d) {2}7 tools/.test(line))).toHaveLength(10);
  expect(picture.filter((line) => line.includes("no database"))).toHaveLength(10);
});
