// The servers the tree starts: none outlives it or the session it was for, and one that died or is slow costs only its
// own time.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished, test } from "vitest";
import { isRunning, killLater } from "../cli/support/processes.ts";
import { fairNow } from "../support/fair-now.ts";
import { mcpxCommand, programPath } from "../support/programs.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";
import { ask, callTool, openSession, type Place, textOf } from "./support/ask.ts";
import { stdioBackend } from "./support/backends.ts";
import { descendants } from "./support/descendants.ts";
import { makeHome, startUp } from "./support/mcpx-up.ts";
import { connectSdk } from "./support/sdk-callers.ts";

const tiny = programPath("tests/cli/support/tiny-server.ts");
/** Neither it nor the child it has wants to end. */
const stubborn = { command: process.execPath, args: [tiny, "--stubborn"] };

type Servers = NonNullable<NonNullable<TestServerOptions["config"]>["mcpServers"]>;

async function start(mcpServers: Servers) {
  const server = await startTestServer({ config: { mcpServers } });
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await server.stop();
    isStopped = true;
  };
  onTestFinished(stop);
  return { server, stop, place: await enter(server) };
}

async function enter(server: TestServer, sub = "alice"): Promise<Place> {
  return { url: `${server.url}/mcp`, token: await server.token({ sub, topics: [], tools: ["**"] }) };
}

/** Those of the stubborn server and its child. */
async function stubbornPids(place: Place): Promise<number[]> {
  const pids = textOf(await callTool(place, "stubborn.pids"))
    .split(" ")
    .map(Number);
  pids.forEach(killLater);
  expect(pids.map(isRunning)).toEqual([true, true]);
  return pids;
}

const pidOf = async (place: Place) => Number(textOf(await callTool(place, "child.work")));

/** `mcpx up` with two servers, ended; those of its processes that still run, and whether they are servers. */
async function leftAfter(signal: NodeJS.Signals) {
  const up = await startUp({ mcpServers: { child: stdioBackend(), stubborn } });
  killLater(up.pid);
  const place = { url: up.url, token: await up.token() };
  const servers = [await pidOf(place), ...(await stubbornPids(place))];
  const all = [...new Set([...descendants(up.pid), ...servers])];
  all.forEach(killLater);
  await up.stop(signal);
  return { servers: () => servers.filter(isRunning), all: () => all.filter(isRunning) };
}

test("when mcpx up has stopped, every child has ended, also those that do not want to", async () => {
  const left = await leftAfter("SIGTERM");
  expect(left.servers()).toEqual([]);
  await expect.poll(left.all).toEqual([]);
});

test("after kill -9 of mcpx up nothing of it is left within five seconds", async () => {
  const left = await leftAfter("SIGKILL");
  await expect.poll(left.all, { timeout: 5_000 }).toEqual([]);
});

test("after kill -9 of mcpx stdio nothing of it is left within five seconds", async () => {
  const home = makeHome({ mcpServers: { child: stdioBackend(), stubborn } });
  onTestFinished(home.remove);
  const [node, ...command] = mcpxCommand;
  const args = [...command, "stdio", "--names", "canonical", "--data", home.dataDir, "--config", home.config];
  const stdio = spawn(node, args, { stdio: ["pipe", "pipe", "inherit"] });
  killLater(stdio.pid as number);
  const send = (id: number, method: string, params: object) =>
    stdio.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  const lines = createInterface({ input: stdio.stdout });
  const clientInfo = { name: "raw", version: "1" };
  send(0, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  await once(lines, "line");
  send(1, "tools/list", {});
  let answer = "";
  while (!answer.includes('"id":1')) answer = String((await once(lines, "line"))[0]);
  expect(answer).toContain("stubborn.pids");
  const all = descendants(stdio.pid as number);
  all.forEach(killLater);
  expect(all.length).toBeGreaterThanOrEqual(3);
  stdio.kill("SIGKILL");
  await expect.poll(() => all.filter(isRunning), { timeout: 5_000 }).toEqual([]);
});

test("a child that was killed is started again by the next call", async () => {
  const { place } = await start({ child: stdioBackend() });
  const first = await pidOf(place);
  // Without a fault it stays the same one.
  expect(await pidOf(place)).toBe(first);
  process.kill(first, "SIGKILL");
  const loss = async () => {
    const { message } = await callTool(place, "mcpax.status");
    const servers: { name: string; last_loss?: string }[] = message.result.structuredContent.servers;
    return servers.find(({ name }) => name === "child")?.last_loss;
  };
  await expect.poll(loss).toBe("SIGKILL");
  const second = await pidOf(place);
  expect(second).toBeGreaterThan(0);
  expect(second).not.toBe(first);
});

test("a call a child dies in is lost, and not sent again", async () => {
  const { dataDir, remove } = makeHome({});
  onTestFinished(remove);
  const record = join(dataDir, "record");
  const { place } = await start({ child: stdioBackend({ record }) });
  const pid = await pidOf(place);
  const sent = () => readFileSync(record, "utf8").split('\\"name\\":\\"wait\\"').length - 1;
  const waiting = callTool(place, "child.wait");
  await expect.poll(sent).toBe(1);
  process.kill(pid, "SIGKILL");
  const { message } = await waiting;
  expect(message.error.data).toMatchObject({ reason: "server_lost", detail: "child: SIGKILL" });
  expect(await pidOf(place)).not.toBe(pid);
  expect(sent()).toBe(1);
});

test("thirty sessions that can be asked have children of their own, which end with them; the shared one stays", async () => {
  const { server, place } = await start({ child: stdioBackend() });
  const shared = await pidOf(place);
  const open = async (n: number) => {
    const mine = await enter(server, `client-${n}`);
    const session = await openSession(mine, { elicitation: {} });
    const pid = Number(textOf(await session.request("tools/call", { name: "child.work", arguments: {} })));
    const leave = () =>
      fetch(mine.url, {
        method: "DELETE",
        headers: { authorization: `Bearer ${mine.token}`, "mcp-session-id": session.id },
      });
    return { pid, leave };
  };
  const sessions: Awaited<ReturnType<typeof open>>[] = [];
  for (let n = 0; n < 30; n += 5) {
    sessions.push(...(await Promise.all([0, 1, 2, 3, 4].map((more) => open(n + more)))));
  }
  const pids = sessions.map(({ pid }) => pid);
  expect(new Set([shared, ...pids]).size).toBe(31);
  expect(pids.filter(isRunning)).toHaveLength(30);
  // Whoever stays keeps its own.
  const [stays, ...leaving] = sessions;
  await Promise.all(leaving.map(({ leave }) => leave()));
  await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([stays?.pid]);
  await stays?.leave();
  await expect.poll(() => pids.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  expect(await pidOf(place)).toBe(shared);
});

test("[AX-5.1-1] a server that needs three seconds to start delays a list by its own time only, and appears later", async () => {
  const { place } = await start({
    child: stdioBackend(),
    slow: { ...stdioBackend({ startMs: 3_000 }), listTimeout: 300 },
  });
  // The others' start is not what is measured.
  await pidOf(place);
  const caller = await connectSdk("v2 legacy", place);
  onTestFinished(() => caller.close());
  const began = fairNow();
  const { message } = await ask(place, "tools/list");
  expect(fairNow() - began).toBeLessThan(1_500);
  const names = message.result.tools.map(({ name }: { name: string }) => name);
  expect(names).toContain("child.echo");
  expect(names).not.toContain("slow.echo");
  expect(message.result.ttlMs).toBe(0);
  await expect.poll(() => caller.heard, { timeout: 10_000 }).toContain("tools");
  await expect.poll(() => caller.tools(), { timeout: 10_000 }).toContain("slow.echo");
});
