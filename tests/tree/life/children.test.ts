// Children of `mcpx up`, as its user sees them: what they use and say, how they end, and that none is left.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, type RunningGateway, scratch, up } from "../../cli/support/mcpx-process.ts";
import { isRunning, killLater } from "../../cli/support/processes.ts";
import { programPath } from "../../support/programs.ts";
import { descendantsOf } from "./support/process-table.ts";

const server = programPath("tests/tree/life/support/talkative-server.ts");

async function upWith(mcpServers: object): Promise<RunningGateway> {
  const dataDir = scratch();
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ mcpServers, gates: { unannotated: "allow" } }));
  return await up(dataDir);
}

function talkative(...args: string[]) {
  return { command: process.execPath, args: [server, ...args] };
}

async function treeOf({ dataDir }: RunningGateway) {
  const { out } = await mcpx(["tree", "--json", "--data", dataDir]);
  const { servers } = JSON.parse(out) as { servers: { name: string; processes?: { pid: number }[] }[] };
  return servers;
}

test("after kill -9 of mcpx up none of its ten servers is there, within five seconds", async () => {
  const entries = Array.from({ length: 10 }, (_, n) => [
    `s${n}`,
    n % 2 === 0 ? talkative() : talkative("--stubborn"),
  ]);
  const gateway = await upWith(Object.fromEntries(entries));
  const servers = await treeOf(gateway);
  const pids = servers.flatMap(({ processes = [] }) => processes.map(({ pid }) => pid));
  expect(pids).toHaveLength(10);
  const all = descendantsOf(gateway.pid);
  all.forEach(killLater);
  expect(all).toEqual(expect.arrayContaining(pids));
  const began = performance.now();
  gateway.kill("SIGKILL");
  await expect.poll(() => all.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a clean end leaves none either", async () => {
  const gateway = await upWith({ kind: talkative(), stubborn: talkative("--stubborn") });
  await treeOf(gateway);
  const all = descendantsOf(gateway.pid);
  all.forEach(killLater);
  gateway.kill("SIGTERM");
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  // The reaper is the last to go.
  await expect.poll(() => all.filter(isRunning), { timeout: 5_000 }).toEqual([]);
});

test("what a server's process uses is shown by mcpax.status and mcpx tree", async () => {
  const gateway = await upWith({ near: talkative(), far: { url: "http://127.0.0.1:9/mcp" } });
  const servers = await treeOf(gateway);
  const near = servers.find(({ name }) => name === "near");
  expect(near?.processes).toEqual([
    { pid: expect.any(Number), processes: 1, memory_bytes: expect.any(Number), cpu_ms: expect.any(Number) },
  ]);
  expect(servers.find(({ name }) => name === "far")).not.toHaveProperty("processes");
  const { out } = await mcpx(["tree", "--data", gateway.dataDir]);
  expect(out).toMatch(/ near {2}1 tool, modern, pid \d+, \d\d+ MB, \d+\.\d s CPU$/m);
});

test("what a server wrote beside the protocol is kept, without its secrets, for admins only", async () => {
  const env = { API_TOKEN: "s3cr3t-of-mine", NAME: "near" };
  const gateway = await upWith({ near: { ...talkative(), env } });
  await treeOf(gateway);
  const { out } = await mcpx(["tree", "--log", "near", "--data", gateway.dataDir]);
  expect(out.split("\n")).toEqual([
    expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d near is up$/),
    expect.stringMatching(/ token •••$/),
  ]);
  const json = await mcpx(["tree", "--log", "near", "--json", "--data", gateway.dataDir]);
  expect(JSON.parse(json.out)).toMatchObject({ server: "near", lines: [{ line: "near is up" }, {}] });
  const absent = await mcpx(["tree", "--log", "nobody", "--data", gateway.dataDir]);
  expect([absent.code, absent.err]).toEqual([1, "mcpx: there is no server nobody; there is: near"]);
  const minted = await mcpx(["token", "--topic", "demo", "--id", "bob", "--data", gateway.dataDir]);
  const url = `${gateway.url}/admin/servers/near/log`;
  const asBob = await fetch(url, { headers: { authorization: `Bearer ${minted.out}` } });
  expect([asBob.status, (await fetch(url)).status]).toEqual([403, 401]);
});

test("a server that cannot begin is shown with its last words", async () => {
  const gateway = await upWith({ broken: { command: process.execPath, args: ["/no/such/server.js"] } });
  const { out } = await mcpx(["tree", "--data", gateway.dataDir]);
  expect(out).toMatch(
    /✗ broken {2}down.*\n.*exit code 1: Error: Cannot find module '\/no\/such\/server\.js'/,
  );
  const call = await mcpx(["call", "broken.x", "--yes", "--data", gateway.dataDir]);
  expect(call.err).toContain("exit code 1: Error: Cannot find module '/no/such/server.js'");
});

test("one that ends again and again is not started for a while, and calls say so at once", async () => {
  const starts = join(scratch(), "starts");
  const gateway = await upWith({ frail: talkative("--starts", starts) });
  const crash = () => mcpx(["call", "frail.crash", "--yes", "--data", gateway.dataDir]);
  for (let n = 0; n < 5; n += 1) expect((await crash()).err).toContain("exit code 3");
  const before = readFileSync(starts, "utf8");
  const { code, err } = await crash();
  expect(code).toBe(1);
  expect(err).toContain("it ends again and again, last with exit code 3: Error: no database");
  const [frail] = (await treeOf(gateway)).filter(({ name }) => name === "frail");
  expect(frail).toMatchObject({ state: "down", retry_after_ms: expect.any(Number) });
  expect(readFileSync(starts, "utf8")).toBe(before);
});

test("one that nobody uses is stopped after its time, and the next call starts another", async () => {
  const frugal = { ...talkative(), idleTimeout: "1s", listTimeout: "1s" };
  const gateway = await upWith({ frugal });
  const pidNow = async () =>
    Number((await mcpx(["call", "frugal.pid", "--yes", "--data", gateway.dataDir])).out);
  const first = await pidNow();
  expect(isRunning(first)).toBe(true);
  await expect.poll(() => isRunning(first), { timeout: 10_000 }).toBe(false);
  expect(await pidNow()).not.toBe(first);
});
