// What `npm start` installs on a fresh clone (`scripts/ready.mjs`), by the lock file.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { closure } from "./closure.ts";
import type { Lock } from "./manifest.ts";

const root = dirname(dirname(import.meta.dirname));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const { packages: lock } = JSON.parse(read("package-lock.json")) as { packages: Lock };

test("a first start installs few packages, and none that only tests and builds use", () => {
  const folders = ["packages/mcpx", "packages/console", "examples"];
  const names = new Set(folders.flatMap((folder) => closure(lock, folder).map(({ name }) => name)));
  expect(names.size).toBeLessThanOrEqual(160);
  expect([...names]).toEqual(
    expect.arrayContaining(["@mcpx/cli", "ws", "svelte", "@modelcontextprotocol/server"]),
  );
  for (const tool of ["vitest", "typescript", "@biomejs/biome", "mqtt", "serialport"])
    expect(names, tool).not.toContain(tool);
});

test("the workspaces that it asks for are there", () => {
  const asked = [...read("scripts/ready.mjs").matchAll(/"(@mcpx\/[\w-]+)"/g)].map(([, name]) => name);
  expect(asked).toEqual(["@mcpx/console", "@mcpx/examples", "@mcpx/node-24"]);
  for (const name of ["mcpx", ...asked]) expect(lock[`node_modules/${name}`]?.link, name).toBe(true);
});
