// Registrants that are too much: endless lists, floods, those who never read, those who never register; and the endpoints
// of HTTP, with others' sessions.
import { once } from "node:events";
import { afterAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import { type Message, toolOf } from "../tree/registration/support/raw-registrant.ts";
import { callTool } from "../tree/support/ask.ts";
import { memoryInUse } from "./memory-in-use.ts";
import { startTreeOracle } from "./tree-oracle.ts";

const scene = await startTreeOracle();
afterAll(() => scene.stop());
const { server } = scene.oracle;

let count = 0;
function newSegment(): string {
  count += 1;
  return `load-${count}`;
}

const many = (length: number, description = "") =>
  Array.from({ length }, (_, i) => ({ name: `t${i}`, description, inputSchema: { type: "object" } }));
const page = (cursor: string | undefined) => Number(cursor ?? 0);
const fat = "x".repeat(900_000);

const lists: [title: string, list: (cursor: string | undefined) => object][] = [
  ["pages without end", (cursor) => ({ tools: [toolOf(`t${page(cursor)}`)], nextCursor: String(page(cursor) + 1) })],
  ["empty pages without end", (cursor) => ({ tools: [], nextCursor: String(page(cursor) + 1) })],
  ["pages in a circle", () => ({ tools: [toolOf("t")], nextCursor: "1" })],
  ["no list", () => ({ tools: { length: 1, 0: toolOf("t") } })],
  ["nothing", () => ({})],
  ["what is no tool", () => ({ tools: [null, 7, "t", [], [toolOf("t")]] })],
  ["tools without a name", () => ({ tools: [{}, { name: 7 }, { name: null }, { name: "" }, { name: ["t"] }] })],
]; // biome-ignore format: a table

test.for(lists)("[AX-10.4-1] a list that is none lists nothing, and keeps nobody: %s", async ([, list]) => {
  const segment = newSegment();
  const attacker = await scene.member(segment, { list });
  await expect.poll(() => attacker.asked.some(({ method }) => method === "tools/list")).toBe(true);
  expect(await scene.named(segment)).toEqual([]);
  await scene.check({});
  expect((await attacker.request("mcpax/heartbeat", { session_id: attacker.session })).result.status).toBe("alive");
  attacker.cut();
}); // biome-ignore format: one line each

test("a list in one piece that is too large for a message ends the connection", async () => {
  const segment = newSegment();
  const attacker = await scene.member(segment, { list: () => ({ tools: many(6, fat) }) });
  expect((await attacker.closed).code).toBe(1009);
  await expect.poll(() => scene.named(segment)).toEqual([]);
  await scene.check({});
});

const names = ["honest.t", "mcpax.status", "load-0.t", ".t", "t.", "..", "*", "**", "__proto__", "constructor", "T", "\u0442", "t\u200b", "../t", "a b", "n".repeat(100_000)]; // biome-ignore format: one line

test.for([false, true])("[AX-4.3-1] [AX-10.3-1] tools with others' names stay below their own segment, as a tree: %s", async (isTree) => {
  const segment = newSegment();
  const more = isTree ? { "x-mcpax-subtree-ids": [crypto.randomUUID()] } : {};
  const attacker = await scene.member(segment, { tools: names.map((name) => toolOf(name)) }, more);
  await expect.poll(async () => (await scene.named(segment)).length).toBeGreaterThan(3);
  const listed = await scene.named(segment);
  expect(new Set(listed).size).toBe(listed.length);
  for (const name of listed) expect(name).toMatch(isTree ? /^load-\d+(\.[a-z0-9_-]{1,63}){1,4}$/ : /^load-\d+\.[a-z0-9_-]{1,63}$/);
  const { message } = await callTool(scene.place, "mcpax.status");
  expect(message.result.structuredContent.servers.map(({ name }: Message) => name)).toContain("honest");
  expect(attacker.asked.some(({ method }) => method === "tools/call")).toBe(false);
  await scene.check({});
  attacker.cut();
}); // biome-ignore format: one line each

test("[AX-12-2] a flood of notifications keeps nobody waiting, and leads to few questions", async () => {
  const segment = newSegment();
  const attacker = await scene.member(segment, { tools: [toolOf("t")] });
  await expect.poll(() => scene.named(segment)).toEqual([`${segment}.t`]);
  const before = memoryInUse().heap;
  const flood = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x".repeat(200) } };
  const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
  for (let i = 0; i < 50_000; i += 1) attacker.socket.send(JSON.stringify(i % 2 === 0 ? flood : changed));
  await scene.check({});
  // Whatever it said is read by now.
  await attacker.request("mcpax/heartbeat", { session_id: attacker.session });
  expect(memoryInUse().heap - before).toBeLessThan(64 * 1_048_576);
  expect(attacker.asked.filter(({ method }) => method === "tools/list").length).toBeLessThan(100);
  await scene.check({});
  attacker.cut();
}); // biome-ignore format: one line each

test("[AX-10.4-1] one that asks and never reads the answers is let go before they fill the memory", async () => {
  const segment = newSegment();
  const attacker = await scene.member(segment, { tools: [toolOf("t")] });
  await expect.poll(() => scene.named(segment)).toEqual([`${segment}.t`]);
  attacker.socket.pause();
  const id = "i".repeat(250);
  let sent = 0;
  while ((await scene.named(segment)).length > 0 && sent < 400_000) {
    for (let i = 0; i < 1_000; i += 1) {
      sent += 1;
      attacker.socket.send(JSON.stringify({ jsonrpc: "2.0", id: `${id}${sent}`.slice(-256), method: id }));
    }
    // What counts is what has arrived.
    await expect.poll(() => attacker.socket.bufferedAmount, { interval: 1 }).toBe(0);
  }
  // So many answers are less than 64 MiB.
  expect(sent).toBeLessThan(100_000);
  attacker.cut();
  await scene.check({});
}, 60_000);

test("[AX-6.1-1] 1 000 that never register are shown out after ten seconds, and others come and go meanwhile", async () => {
  const token = await scene.oracle.token({ topics: [] });
  const headers = { authorization: `Bearer ${token}` };
  const address = `${server.url.replace("http", "ws")}/ax`;
  const began = performance.now();
  const closed: Promise<number>[] = [];
  for (let i = 0; i < 1_000; i += 50) {
    const sockets = Array.from({ length: 50 }, () => new WebSocket(address, { headers }));
    closed.push(...sockets.map(async (socket) => Number((await once(socket, "close"))[0])));
    await Promise.all(sockets.map((socket) => once(socket, "open")));
  }
  await scene.check({});
  // One more with the same token has to wait; others have not.
  const [, refusal] = await once(new WebSocket(address, { headers }), "unexpected-response");
  expect([refusal.statusCode, refusal.headers["retry-after"]]).toEqual([503, "10"]);
  const other = await scene.member(newSegment());
  other.cut();
  expect(new Set(await Promise.all(closed))).toEqual(new Set([4403]));
  expect(performance.now() - began).toBeGreaterThan(9_900);
  await scene.check({});
}, 90_000);

// The last one: of calls whose callers have left some are still refused, and recorded, when it has ended.
test("[AX-13.1-1] calls to one that does not read fail, and do not pile up", async () => {
  const segment = newSegment();
  const attacker = await scene.member(segment, { tools: [toolOf("t")] });
  await expect.poll(() => scene.named(segment)).toEqual([`${segment}.t`]);
  attacker.socket.pause();
  const leaving = new AbortController();
  const args = { x: "x".repeat(3_000_000) };
  const calls = Array.from({ length: 16 }, async () => {
    try {
      const { message } = await callTool(scene.place, `${segment}.t`, args, { signal: leaving.signal });
      return message.error?.data?.reason ?? "answered";
    } catch {
      return "left";
    }
  });
  // Those that fit wait; the others are told at once.
  expect(await Promise.race(calls)).toBe("server_unreachable");
  leaving.abort();
  const outcomes = await Promise.all(calls);
  expect(new Set(outcomes)).toEqual(new Set(["server_unreachable", "left"]));
  attacker.cut();
  await attacker.closed;
  await scene.settled();
}, 60_000);
