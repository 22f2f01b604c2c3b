// The client from its tarball on the runtimes its README names, which npm has: each joins a room and speaks. Only for
// `npm run soak`: it installs them.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scratch, up } from "../cli/support/mcpx-process.ts";
import { mintTokens } from "../faults/support/tokens.ts";
import { type CleanMachine, cleanMachine } from "./support/clean-machine.ts";

const root = dirname(dirname(import.meta.dirname));
const program = `
import { joinRoom } from "@mcpx/client";
const [url, token] = globalThis.Deno?.args ?? process.argv.slice(2);
const room = await joinRoom({ url, topic: "runtimes", token });
await room.say("hello");
console.log("said as", room.id, room.level);
await room.close();
`;

let machine: CleanMachine;
let folder = "";

beforeAll(() => {
  machine = cleanMachine();
  folder = join(machine.home, "talk");
  mkdirSync(folder);
  const release = join(machine.home, "release");
  execFileSync(process.execPath, ["scripts/release.ts", "--dry", "--out", release], {
    cwd: root,
    stdio: "pipe",
  });
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(folder, "talk.mjs"), program);
  const ours = readdirSync(release).filter((file) => /^mcpx-(client|protocol)-/.test(file));
  const runtimes = ["node20@npm:node@20", "node22@npm:node@22", "deno@2", "bun@1"];
  const packages = [...ours.map((file) => join(release, file)), ...runtimes];
  machine.run("npm", ["install", "--no-audit", "--no-fund", ...packages], folder);
}, 300_000);

afterAll(() => machine?.remove(), 60_000);

test("Node 22, Deno and Bun join a room and speak; Node 20 is too old and is not promised", {
  timeout: 120_000,
}, async () => {
  const dataDir = scratch();
  const gateway = await up(dataDir);
  const claims = { sub: "talker", topics: ["runtimes"], level: "full" as const };
  const [token = ""] = await mintTokens(dataDir, [claims]);
  const talk = (runtime: string, ...words: string[]) => {
    const args = [...words, "talk.mjs", gateway.url, token];
    return spawnSync(join(folder, "node_modules", runtime), args, { cwd: folder, encoding: "utf8" });
  };
  for (const said of [talk("node22/bin/node"), talk(".bin/deno", "run", "--allow-all"), talk(".bin/bun")]) {
    expect(said.stdout, said.stderr).toBe("said as talker full\n");
  }
  expect(talk("node20/bin/node").status).toBe(1);
  const manifest = readFileSync(join(folder, "node_modules/@mcpx/client/package.json"), "utf8");
  expect(JSON.parse(manifest).engines).toEqual({ node: ">=22" });
  const headers = { authorization: `Bearer ${token}` };
  const page = await fetch(`${gateway.url}/v0/topics/runtimes/history`, { headers });
  expect(((await page.json()) as { envelopes: unknown[] }).envelopes).toHaveLength(3);
});
