// `mcpx serve`: any MCP server as a participant, for as long as it is wanted and not a moment longer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { joinRoom, type PeerError, type Room } from "@mcpx/client";
import { expect, onTestFinished, test } from "vitest";
import { programPath } from "../support/programs.ts";
import { reapersOf } from "../tree/life/support/process-table.ts";
import { mcpx, type RunningCommand, scratch, start, up } from "./support/mcpx-process.ts";
import { isRunning, killLater } from "./support/processes.ts";

const root = dirname(dirname(import.meta.dirname));
const tiny = [process.execPath, programPath("tests/cli/support/tiny-server.ts")];

async function serveTiny(dataDir: string, ...more: string[]): Promise<RunningCommand> {
  const command = start(["serve", "demo", "tiny", "--data", dataDir, "--", ...tiny, ...more]);
  await command.line(/^tiny is in demo with 7 tools \(tiny 1\.2\.3\); Ctrl-C ends$/);
  return command;
}

async function enter(dataDir: string, url: string): Promise<Room> {
  const args = ["token", "--topic", "demo", "--id", "alice", "--level", "full", "--data", dataDir];
  const { out: token } = await mcpx(args);
  const room = await joinRoom({ url, topic: "demo", token });
  onTestFinished(() => room.close());
  return room;
}

function textOf({ content }: { content: unknown[] }): string {
  return (content[0] as { text: string }).text;
}

async function pidsOf(room: Room): Promise<number[]> {
  const pids = textOf(await room.peer("tiny").callTool("pids"))
    .split(" ")
    .map(Number);
  pids.forEach(killLater);
  return pids;
}

test("[B-ROOM-2] as a new user would: a published server, its tools and a call from the chat line", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const name = "@modelcontextprotocol/server-everything";
  const served = start(["serve", "demo", "everything", "--data", dataDir, "--", "npx", "-y", name], {
    cwd: root,
    env: { npm_config_cache: scratch(), npm_config_prefer_offline: "true" },
  });
  await served.line(/^everything is in demo with \d+ tools/);
  const chat = start(["join", "demo", "--yes", "--data", dataDir], { isTyped: true });
  chat.type("/tools everything");
  chat.type('/call everything echo {"message":"hi"}');
  chat.type();
  expect(await chat.ended).toEqual({ code: 0, signal: null });
  expect(chat.out).toContainEqual(expect.stringMatching(/^ {2}echo\(message\) +Echoes back the input/));
  expect(chat.out).toContain("Echo: hi");
  served.kill("SIGINT");
  expect(await served.ended).toEqual({ code: 0, signal: null });
});

test("messages are passed on as they are; the server is introduced once and says what it says on our side", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const served = await serveTiny(dataDir);
  const room = await enter(dataDir, url);
  const peer = room.peer("tiny");
  expect(await peer.introduction()).toMatchObject({
    protocolVersion: "2025-06-18",
    serverInfo: { name: "tiny" },
    capabilities: { tools: { listChanged: true } },
  });
  const params = { name: "params", arguments: { a: [1, null] }, _meta: { "example.org/trace": "t1" } };
  const result = await peer.request("tools/call", params);
  expect(JSON.parse(textOf(result as never))).toEqual(params);
  await expect(peer.callTool("nothing")).rejects.toMatchObject({ code: -32602, message: "no tool nothing" });
  expect(served.err.filter((line) => line.includes("initialized with"))).toEqual([
    "[tiny] initialized with 2025-11-25",
  ]);
  expect(served.err).toContain("[tiny] Welcome to tiny!");
});

test("progress, cancellation and changed lists reach whom they concern; nobody is asked back", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const served = await serveTiny(dataDir);
  const room = await enter(dataDir, url);
  const peer = room.peer("tiny");
  const stop = new AbortController();
  const call = peer.callTool("slow", {}, { signal: stop.signal, onProgress: () => stop.abort() });
  await expect(call).rejects.toThrow();
  await served.line(/^\[tiny\] told that it is cancelled$/);
  const news = room.events("notification");
  await peer.callTool("grow");
  expect((await news.next()).value).toMatchObject({
    from: "tiny",
    method: "notifications/tools/list_changed",
  });
  expect((await peer.listTools()).map(({ name }) => name)).toContain("grown");
  await peer.callTool("ask");
  await served.line(/^\[tiny\] the question was answered with -32601$/);
});

test("an answer too large for a room becomes an error that says so", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  await serveTiny(dataDir);
  const room = await enter(dataDir, url);
  const error: PeerError = await room
    .peer("tiny")
    .callTool("big")
    .then(
      () => expect.fail("was answered"),
      (thrown) => thrown,
    );
  expect(error).toMatchObject({ code: -32603, reason: "too_large" });
});

test("a server that crashes fails what it was asked, is started again, and that is said", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const served = await serveTiny(dataDir);
  const room = await enter(dataDir, url);
  const changed = room.events("notification");
  await expect(room.peer("tiny").callTool("crash")).rejects.toMatchObject({ reason: "server_ended" });
  await served.line(/^-- tiny ended \(exit code 3\), starting it again in 0\.5 s$/);
  await served.line(/^-- tiny is back$/);
  expect((await changed.next()).value).toMatchObject({ method: "notifications/tools/list_changed" });
  expect(textOf(await room.peer("tiny").callTool("params"))).toContain("params");
});

test("after kill -9 the server and its children are gone; without the reaper they would live on", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const served = await serveTiny(dataDir, "--stubborn");
  const pids = await pidsOf(await enter(dataDir, url));
  const control = await startWithoutReaper();
  expect([...pids, control.serverPid].map(isRunning)).toEqual([true, true, true]);
  served.kill("SIGKILL");
  control.kill();
  await expect.poll(() => pids.map(isRunning), { timeout: 10_000 }).toEqual([false, false]);
  expect(isRunning(control.serverPid)).toBe(true);
});

/** The same server, started by a process that is then killed. */
async function startWithoutReaper(): Promise<{ serverPid: number; kill(): void }> {
  const script = `
    const server = require("node:child_process").spawn(${JSON.stringify(tiny[0])},
      ${JSON.stringify([tiny[1], "--stubborn", "--child"])}, { stdio: ["pipe", "pipe", "ignore"], detached: true });
    console.log(server.pid);
    setInterval(() => {}, 60000);`;
  const parent = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  killLater(parent.pid as number);
  const [line] = await once(createInterface({ input: parent.stdout }), "line");
  const serverPid = Number(line);
  killLater(serverPid);
  return { serverPid, kill: () => parent.kill("SIGKILL") };
}

test("Ctrl-C ends a server that does not want to", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const served = await serveTiny(dataDir, "--stubborn");
  const pids = await pidsOf(await enter(dataDir, url));
  served.kill("SIGINT");
  expect(await served.ended).toEqual({ code: 0, signal: null });
  expect(pids.map(isRunning)).toEqual([false, false]);
});

test("when the reaper itself is killed, the server notices nothing, and another one takes its place", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const served = await serveTiny(dataDir, "--stubborn");
  const room = await enter(dataDir, url);
  const pids = await pidsOf(room);
  const [first] = reapersOf(served.pid);
  process.kill(first as number, "SIGKILL");
  await expect.poll(() => reapersOf(served.pid).filter((pid) => pid !== first)).toHaveLength(1);
  expect(await pidsOf(room)).toEqual(pids);
  served.kill("SIGKILL");
  await expect.poll(() => pids.map(isRunning), { timeout: 10_000 }).toEqual([false, false]);
});

test("it comes back into the room by itself", async () => {
  const dataDir = scratch();
  const first = await up(dataDir);
  const served = await serveTiny(dataDir);
  first.kill("SIGKILL");
  await served.line(/^-- out of the room \(network\), coming back$/);
  start(["up", "--port", new URL(first.url).port, "--data", dataDir]);
  await served.line(/^-- back in the room$/);
  const room = await enter(dataDir, first.url);
  expect(await room.peer("tiny").listTools()).toHaveLength(7);
});

test("[B-ROOM-2] --url serves a server that speaks streamable HTTP", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const port = await freePort();
  const main = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
  const remote = spawn(process.execPath, [main, "streamableHttp"], { env: { PORT: String(port) } });
  onTestFinished(() => void remote.kill("SIGKILL"));
  await once(remote.stderr, "data");
  const address = `http://127.0.0.1:${port}/mcp`;
  const served = start(["serve", "demo", "far", "--url", address, "--data", dataDir, "--json"]);
  expect(JSON.parse(await served.line(/"serving"/))).toMatchObject({ room: "demo", id: "far" });
  const room = await enter(dataDir, url);
  const progress: number[] = [];
  const steps = { duration: 0.2, steps: 2 };
  const onProgress = (news: { progress: number }) => progress.push(news.progress);
  await room.peer("far").callTool("trigger-long-running-operation", steps, { onProgress });
  expect(progress.at(-1)).toBe(2);
  expect(textOf(await room.peer("far").callTool("echo", { message: "hi" }))).toBe("Echo: hi");
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

test("what cannot be served is said in one line", async () => {
  const dataDir = scratch();
  const usage = "write npx mcpx serve ROOM NAME -- CMD…, or --url URL instead of the command";
  const fault = async (...args: string[]) => {
    const { code, err } = await mcpx(["serve", "demo", ...args, "--data", dataDir]);
    return `${code} ${err}`;
  };
  expect(await fault("tiny")).toBe(`2 mcpx: there is no server to serve; ${usage}`);
  expect(await fault("tiny", "x", "--url", "http://x")).toBe(
    `2 mcpx: --url and a command cannot be combined; ${usage}`,
  );
  expect(await fault("tiny", "x")).toMatch(/^1 mcpx: no gateway is running on .*give --gateway and --token/);
  await up(dataDir);
  expect(await fault("tiny", "no-such-command")).toBe(
    "1 mcpx: no-such-command cannot be started (not found); check the spelling, and that it is installed",
  );
  expect(await fault("tiny", "false")).toBe("1 mcpx: the server ended before it was ready (exit code 1)");
  expect(await fault("tiny", "--url", "http://127.0.0.1:9/mcp")).toMatch(
    /^1 mcpx: the server refused .*9\/mcp/,
  );
  const minted = await mcpx(["token", "--topic", "demo", "--id", "bob", "--data", dataDir]);
  expect(await fault("tiny", "--token", minted.out, ...tiny)).toMatch(
    /mcpx: the token is for bob, not for tiny; use its own name$/,
  );
});
