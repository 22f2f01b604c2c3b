// Servers that do not list in time, and servers that say with every list that it has changed: what clients of the tree
// and the terminal see of them. Which list waits for whom is in `packages/aggregator/src/servers/mute.test.ts`.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { mcpx } from "../cli/support/mcpx-process.ts";
import { startUp } from "./support/mcpx-up.ts";
import { connectSdk } from "./support/sdk-callers.ts";

const program = join(import.meta.dirname, "support/odd-lists-server.ts");
const odd = (...args: string[]) => ({ command: process.execPath, args: [program, ...args] });

async function upWith(mcpServers: NonNullable<Parameters<typeof startUp>[0]["mcpServers"]>) {
  const up = await startUp({ mcpServers });
  onTestFinished(() => up.stop());
  const way = { url: up.url, token: await up.token() };
  return { ...up, connect: () => connectSdk("v1", way) };
}

const ownOf = (tools: string[]) => tools.filter((name) => !name.startsWith("mcpax.")).toSorted();

test("hung servers keep nobody from the others; one that comes alive is told of", {
  timeout: 60_000,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-odd-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, "now");
  const sleepers = Array.from({ length: 10 }, (_, n) => [
    `sleeper${n}`,
    { command: "sleep", args: ["1000"], listTimeout: "2s" },
  ]);
  const up = await upWith({
    good: odd(),
    late: { ...odd("--until", file), listTimeout: "2s" },
    ...Object.fromEntries(sleepers),
  });
  const first = await up.connect();
  onTestFinished(() => first.close());
  expect(ownOf(await first.tools())).toEqual(["good.work"]);
  const second = await up.connect();
  onTestFinished(() => second.close());
  for (let times = 0; times < 12; times += 1) expect(ownOf(await second.tools())).toEqual(["good.work"]);
  expect(await second.call("good.work")).toBe("worked");
  writeFileSync(file, "");
  await expect.poll(() => second.heard, { timeout: 30_000 }).toContain("tools");
  expect(ownOf(await second.tools())).toEqual(["good.work", "late.work"]);
  expect(await second.call("late.work")).toBe("worked");
});

test("a server that says with every list that it has changed is shown with its tools", {
  timeout: 60_000,
}, async () => {
  const up = await upWith({ alarm: odd("--alarm"), control: odd() });
  const { out } = await mcpx(["tree", "--data", up.dataDir]);
  expect(out).toMatch(/● alarm {2}1 tool,/);
  expect(out).toMatch(/● control {2}1 tool,/);
  const caller = await up.connect();
  onTestFinished(() => caller.close());
  expect(ownOf(await caller.tools())).toEqual(["alarm.work", "control.work"]);
  expect(await caller.call("alarm.work")).toBe("worked");
});
