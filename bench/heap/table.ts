// Everything a stranger with one token can make a gateway keep: a row is a name and a way to do it.
import { frame } from "../fairness/attacks/frames.ts";
import { get, initialize, legacy, modern, upgrade } from "../fairness/attacks/rpc.ts";
import { empties, hollowTools, keys, kib, mib, numbers, text, tools } from "../fairness/attacks/shapes.ts";
import {
  asked,
  callOf,
  comeAndGone,
  dripped,
  held,
  type Keep,
  manyRegistered,
  members,
  registered,
} from "./keep.ts";

const threeTools = JSON.stringify(
  ["wait", "ask", "held"].map((name) => ({ name, inputSchema: { type: "object" } })),
);
const calls = (tool: string, fill: (bytes: number) => string, bytes: number, count: number) =>
  registered(threeTools, { request: callOf(tool, fill), bytes, count });
const heldResult = (resultBytes: number, count: number) =>
  registered(threeTools, { request: callOf("held", text), bytes: 10, count, resultBytes });
const halfMessage = (bytes: number) => frame(1, "x".repeat(bytes)).subarray(0, -1);
const withSchemas = (fill: (bytes: number) => string, bytes: number) =>
  `[${Array.from({ length: 16 }, (_, i) => `{"name":"t${i}","inputSchema":{"type":"object","x":${fill(bytes / 16)}}}`).join(",")}]`;
const history = get("/v0/topics/lab%2Ffull/history?limit=1000");
const post = modern("ping", { x: "{fill}" }, { fill: text });
const chat = (length: number) => ({ kind: "chat", payload: { text: "x".repeat(length) } });
const status = {
  kind: "system",
  payload: { type: "presence_status", status: "s".repeat(200), text: "t".repeat(200) },
};
const proposal = (length: number) => ({
  kind: "mcp/proposal",
  payload: { method: "tools/call", params: { x: "x".repeat(length) } },
});
const many = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

// biome-ignore format: a table
export const rows: readonly [name: string, keep: Keep][] = [
  ["control: nothing is kept of these", asked(get("/readyz"), 0, 1_000)],
  // As much of each as `valuesMax` lets through.
  ["list of a registered server: 8 000 small tools", registered(tools(kib(480)))],
  ["list of a registered server: schemas of empty objects", registered(hollowTools(kib(64)))],
  ["list of a registered server: schemas of numbers", registered(withSchemas(numbers, kib(90)))],
  ["list of a registered server: schemas of keys", registered(withSchemas(keys, kib(190)))],
  ["list of a registered server: schemas of text", registered(withSchemas(text, mib(1)))],
  ["pins of servers that came and went, other tools each time", comeAndGone((time) => tools(kib(480)).replaceAll('"t', `"v${time}`), 4)],
  ["registrations without tools", manyRegistered(40)],
  ["waiting calls, argument of text", calls("wait", text, kib(512), 8)],
  ["waiting calls, argument of empty objects", calls("wait", empties, kib(512), 8)],
  ["waiting calls, argument of numbers", calls("wait", numbers, kib(512), 8)],
  ["waiting calls, argument of keys", calls("wait", keys, kib(512), 8)],
  ["waiting calls, small", calls("wait", text, 10, 200)],
  ["gates that wait, argument of text", calls("ask", text, kib(64), 16)],
  ["gates that wait, argument of empty objects", calls("ask", empties, kib(64), 16)],
  ["gates that wait, small", calls("ask", text, 10, 100)],
  ["held results of 256 KiB", heldResult(kib(256), 8)],
  ["sessions, small", asked(initialize(text), 1, 90)],
  ["sessions whose capabilities are text", asked(initialize(text), kib(256), 8)],
  ["sessions whose capabilities are empty objects", asked(initialize(empties), kib(256), 8)],
  ["unfinished bodies of /mcp", held({ way: "holds", request: post, sends: "all but the last byte" }, mib(1), 20)],
  ["unfinished bodies, byte by byte", dripped({ ...post, headers: { ...post.headers, "content-length": "4000" } }, Buffer.alloc(1_000, "x"), 20)],
  ["unfinished heads", held({ way: "holds", request: get("/v0/topics"), sends: "half of the head" }, 0, 500, "none")],
  ["unfinished messages of a room", held({ way: "holds", request: upgrade("/v0/ws?topic=lab/half-{lane}"), sends: "all", behind: halfMessage }, kib(511), 20)],
  ["unfinished messages of /ax", held({ way: "holds", request: upgrade("/ax"), sends: "all", behind: halfMessage }, mib(1), 20)],
  ["unfinished messages of a room, byte by byte", dripped(upgrade("/v0/ws?topic=lab/drip-{lane}"), halfMessage(100_000).subarray(0, 1_000), 20)],
  ["unfinished messages of a room, in 1 000 fragments", held({ way: "holds", request: upgrade("/v0/ws?topic=lab/part-{lane}"), sends: "all", behind: () => Buffer.concat([frame(1, "x", false), ...many(1_000, frame(0, "x", false))]) }, 0, 20)],
  ["answers nobody reads: history", held({ way: "holds", request: history, sends: "all" }, 0, 40)],
  ["answers nobody reads: tools/list", held({ way: "holds", request: modern("tools/list", {}), sends: "all" }, 0, 40)],
  ["subscriptions/listen", held({ way: "holds", request: modern("subscriptions/listen", { notifications: { toolsListChanged: true } }), sends: "all" }, 0, 90)],
  ["event streams of one session", held({ way: "holds", request: { ...get("/mcp"), headers: { accept: "text/event-stream" }, session: "2025-06-18" }, sends: "all" }, 0, 20)],
  ["resources/subscribe", asked(legacy("resources/subscribe", { uri: "mcpx://archive/archive:{n}" }), 0, 200)],
  ["members, each in a room of its own", members((i) => `lab/own-${i}`, () => [], { count: 100 })],
  ["rooms that were left", members((i) => `lab/left-${i}`, () => [], { count: 100, stay: false })],
  ["rooms without history, one line of 200 characters each", members((i) => `lab/scratch/${i}`, () => [chat(200)], { count: 100, stay: false })],
  ["rooms with history, one line of 200 characters each", members((i) => `lab/kept-${i}`, () => [chat(200)], { count: 100, stay: false })],
  ["lines of 200 characters in one room without history", members(() => "lab/scratch/one", () => many(1_000, chat(200)), { count: 1 })],
  ["lines of 200 characters in one room with history", members(() => "lab/one", () => many(1_000, chat(200)), { count: 1 })],
  ["presence of members with a status", members((i) => `lab/status-${i}`, () => [status], { count: 100 })],
  ["proposals of 16 KiB", members(() => "lab/proposals", () => many(100, proposal(kib(16))), { count: 1 })],
  ["audit rows of refused requests", asked(get("/admin/audit"), 0, 1_000)],
  ["audit rows of forged tokens", asked(get("/v0/topics"), 0, 1_000, { as: "forged token" })],
  ["tickets", asked({ method: "POST", path: "/v0/tickets", body: () => '{"topic":"lab/x"}' }, 0, 200)],
];
