// The board of the first run: there where it can be had, missed by nobody where it cannot, and gone with its gateway.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, type RunningCommand, type RunOptions, scratch, start } from "./support/mcpx-process.ts";

async function firstRun(
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<RunningCommand & { dataDir: string }> {
  const home = scratch();
  const dataDir = join(home, "data");
  const command = start(["up", "--port", "0", "--json", "--data", dataDir, ...args], {
    cwd: home,
    ...options,
  });
  // Where a launcher stands in between, its own process is not the gateway's.
  const { pid } = JSON.parse(await command.line(/^\{"url"/)) as { pid: number };
  return { ...command, pid, dataDir };
}

/** Many processes, one after the other: they end what hangs. */
const slow = { timeout: 120_000 };

/** Everything that runs with this among its words. */
function processesWith(word: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => commandOf(pid).includes(word))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    // It has ended meanwhile.
    return "";
  }
}

async function directoryOf(gateway: RunningCommand): Promise<string> {
  const registered = await gateway.line(/"device":"board".*"event":"registered"/);
  const { line } = JSON.parse(registered) as { line: string };
  return dirname(line.slice("unix:".length));
}

test(
  "a board is part of the demo, its irreversible tool waits at a gate, and kill -9 of the gateway leaves nothing of it",
  slow,
  async () => {
    const gateway = await firstRun();
    const directory = await directoryOf(gateway);
    const call = (tool: string, args: object = {}) =>
      start(["call", `board.${tool}`, JSON.stringify(args), "--yes", "--data", gateway.dataDir]);
    const read = call("read_sensor");
    expect(await read.line(/^\{/)).toMatch(/^\{"reading":\d+,"led":false,"releases":0\}$/);
    expect(await call("set_led", { led: 1 }).line(/^\{/)).toBe('{"led":true}');
    await call("release", { amount: 100 }).line(/board\.release waits for approval/);
    // What is looked for can be found.
    expect(processesWith(directory).length).toBeGreaterThan(0);
    expect(existsSync(directory)).toBe(true);
    process.kill(gateway.pid, "SIGKILL");
    await expect.poll(() => processesWith(directory)).toEqual([]);
    await expect.poll(() => existsSync(directory)).toBe(false);
  },
);

test("it is gone after a clean end too", async () => {
  const gateway = await firstRun();
  const directory = await directoryOf(gateway);
  gateway.kill("SIGTERM");
  expect((await gateway.ended).code).toBe(0);
  await expect.poll(() => processesWith(directory)).toEqual([]);
  expect(existsSync(directory)).toBe(false);
});

test("a compiler that hangs delays neither the gateway nor its end", async () => {
  const programs = join(scratch(), "programs");
  mkdirSync(programs);
  const begun = join(programs, "begun");
  const compiler = join(programs, "arm-none-eabi-gcc");
  writeFileSync(compiler, `#!/bin/sh\n: > ${begun}\nexec sleep 600\n`, { mode: 0o755 });
  const gateway = await firstRun([], { env: { PATH: `${programs}:${process.env.PATH}` } });
  await expect.poll(() => existsSync(begun)).toBe(true);
  const { code, out } = await mcpx(["call", "workshop.list_orders", "--yes", "--data", gateway.dataDir]);
  expect([code, out]).toEqual([0, expect.stringContaining("A-17")]);
  gateway.kill("SIGTERM");
  expect((await gateway.ended).code).toBe(0);
  expect(gateway.err.filter((line) => line.includes("board"))).toEqual([]);
});

test("without an emulator the demo is there, and one line says how to have a board; --no-demo says nothing", async () => {
  const bare = { env: { PATH: "/nonexistent" } };
  const [demo, none] = await Promise.all([firstRun([], bare), firstRun(["--no-demo"], bare)]);
  const { msg } = JSON.parse(await demo.line(/the demo has no board/)) as { msg: string };
  expect(msg).toMatch(/; on Debian: sudo apt-get install .*gcc-arm-none-eabi qemu-system-arm$/);
  for (const gateway of [demo, none]) gateway.kill("SIGTERM");
  await Promise.all([demo.ended, none.ended]);
  expect(demo.err.filter((line) => line.includes("board"))).toHaveLength(1);
  expect(demo.err.filter((line) => line.includes("demo-robot"))).not.toEqual([]);
  expect(none.err.filter((line) => /board|demo/.test(line))).toEqual([]);
});

test("--no-demo leaves the board out where it could be had", async () => {
  const gateway = await firstRun(["--no-demo"]);
  const { out } = await mcpx(["devices", "--json", "--data", gateway.dataDir]);
  expect(JSON.parse(out).devices).toEqual([]);
  gateway.kill("SIGTERM");
  await gateway.ended;
  expect(gateway.err.filter((line) => line.includes("board"))).toEqual([]);
});
