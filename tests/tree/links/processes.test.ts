// No child outlives its link, whatever became of the link's owner, and none gets more of us than it was given.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";
import { isRunning, killLater } from "../../cli/support/processes.ts";
import { programPath } from "../../support/programs.ts";
import { descendants } from "../support/descendants.ts";
import { hostile, openTo, stdioOf } from "./support/open.ts";

const root = dirname(dirname(dirname(import.meta.dirname)));
const tiny = programPath("tests/cli/support/tiny-server.ts");

async function pidsOf(call: (name: string) => Promise<{ content: { text: string }[] }>): Promise<number[]> {
  const { content } = await call("pids");
  const pids = (content[0]?.text ?? "").split(" ").map(Number);
  pids.forEach(killLater);
  return pids;
}

function descriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

test("closed, a server and its children are gone, also where they do not want to", async () => {
  const { link, ask } = await openTo(stdioOf(tiny, "--stubborn"));
  const pids = await pidsOf((name) => ask("tools/call", { name }) as never);
  expect(pids.map(isRunning)).toEqual([true, true]);
  await link.close();
  expect(pids.map(isRunning)).toEqual([false, false]);
});

test("after kill -9 of whoever had it, they are gone too", async () => {
  const script = programPath("tests/tree/links/support/owner.ts");
  const args = ["--conditions=mcpx-source", script, tiny, "--stubborn"];
  const owner = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], cwd: root });
  killLater(owner.pid as number);
  const [line] = await once(createInterface({ input: owner.stdout }), "line");
  const pids = String(line).split(" ").map(Number);
  pids.forEach(killLater);
  expect(pids.map(isRunning)).toEqual([true, true]);
  owner.kill("SIGKILL");
  await expect.poll(() => pids.map(isRunning), { timeout: 10_000 }).toEqual([false, false]);
});

test("fifty starts and stops, and fifty failures, leave no process and no descriptor", {
  timeout: 120_000,
}, async () => {
  const cycle = async (n: number) => {
    const missing = { ...stdioOf("x"), command: "/no/such" };
    await expect(openTo(missing)).rejects.toThrow("cannot be started");
    const { link, call } = await openTo(hostile("--era", n % 2 === 0 ? "legacy" : "modern"));
    if (n % 3 === 0) await expect(call("die")).rejects.toThrow();
    else expect(await call("echo")).toBe("echo");
    await link.close();
  };
  await cycle(0);
  await expect.poll(() => descendants(process.pid)).toEqual([]);
  const before = descriptors();
  for (let n = 0; n < 50; n += 5) await Promise.all([0, 1, 2, 3, 4].map((more) => cycle(n + more)));
  await expect.poll(() => descendants(process.pid)).toEqual([]);
  await expect.poll(descriptors).toBeLessThanOrEqual(before);
});

test("a child's environment and directory are those it was given", async () => {
  const transport = { ...hostile(), cwd: "/", env: { ONLY: "this", NOT: undefined } };
  const { call } = await openTo(transport as ReturnType<typeof hostile>);
  const { env, cwd } = (await call("env")) as { env: object; cwd: string };
  expect(env).toEqual({ ONLY: "this" });
  expect(cwd).toBe("/");
});
