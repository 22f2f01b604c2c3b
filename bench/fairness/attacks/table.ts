// Every attack that is known: a row is a verb, a size, how many at once, and whose credential.
import type { Attack, Credential, Verb } from "./attack.ts";
import { frame } from "./frames.ts";
import { get, initialize, legacy, modern, rpc, upgrade } from "./rpc.ts";
import { deep, empties, hollowTools, keys, kib, mib, numbers, text, tools } from "./shapes.ts";

const requests = (request: (Verb & { way: "requests" })["request"]): Verb => ({ way: "requests", request });
const visits = (request: (Verb & { way: "visits" })["request"], readBytes = 1): Verb => ({
  way: "visits",
  request,
  readBytes,
});
const holds = (
  request: (Verb & { way: "holds" })["request"],
  sends: (Verb & { way: "holds" })["sends"],
  behind?: (bytes: number) => Buffer,
): Verb => ({ way: "holds", request, sends, ...(behind !== undefined && { behind }) });
const room = (frames: (bytes: number) => Buffer, topic?: string): Verb => ({
  way: "frames",
  at: "room",
  frames,
  ...(topic !== undefined && { topic }),
});
const ax = (frames: (bytes: number) => Buffer): Verb => ({ way: "frames", at: "ax", frames });

const post = (path: string, body: (bytes: number) => string) => ({ method: "POST", path, body }) as const;
const call = (name: string, args: object = {}) => modern("tools/call", { name, arguments: args });
const envelope = (kind: string, payload: string) =>
  `{"protocol":"mcpx/v0.1","id":"a","kind":"${kind}","payload":${payload}}`;
const notification = (method: string, params = "{}") =>
  `{"jsonrpc":"2.0","method":"${method}","params":${params}}`;
const batch = (request: string, count: number) => `[${Array(count).fill(request).join(",")}]`;
const history = get("/v0/topics/lab%2Ffull/history?limit=1000");
const words = "compare the history of contracts and invoices with valves and sensors on a route";
const roomMcp = "/rooms/lab%2Fseat/mcp";
const halfMessage = (bytes: number) => {
  const whole = frame(1, "x".repeat(bytes));
  return whole.subarray(0, whole.length - 1);
};
const fragments = (bytes: number) =>
  Buffer.concat([
    frame(1, "x", false),
    ...Array.from({ length: Math.max(1, bytes) }, () => frame(0, "x", false)),
    frame(0, "x"),
  ]);

// biome-ignore format: a table
const rows: [name: string, verb: Verb, bytes: number, concurrency: number, as: Credential][] = [
  ["mcp-4mib-numbers", requests(modern("ping", { x: "{fill}" }, { fill: numbers })), mib(4) - 400, 1, "token"],
  ["mcp-1mib-numbers", requests(modern("ping", { x: "{fill}" }, { fill: numbers })), mib(1) - 400, 1, "token"],
  ["mcp-4mib-empties", requests(modern("ping", { x: "{fill}" }, { fill: empties })), mib(4) - 400, 1, "token"],
  ["mcp-1mib-empties", requests(modern("ping", { x: "{fill}" }, { fill: empties })), mib(1) - 400, 1, "token"],
  ["mcp-4mib-keys", requests(modern("ping", { x: "{fill}" }, { fill: keys })), mib(4) - 400, 1, "token"],
  ["mcp-1mib-keys", requests(modern("ping", { x: "{fill}" }, { fill: keys })), mib(1) - 400, 1, "token"],
  ["mcp-4mib-text", requests(modern("ping", { x: "{fill}" }, { fill: text })), mib(4) - 400, 4, "token"],
  ["mcp-4mib-deep", requests(modern("ping", { x: "{fill}" }, { fill: deep })), mib(4) - 400, 1, "token"],
  ["mcp-4mib-no-token", requests(modern("ping", { x: "{fill}" }, { fill: numbers })), mib(4) - 400, 4, "none"],
  ["mcp-100000-keys", requests(modern("ping", { x: "{fill}" }, { fill: keys })), kib(1_000), 4, "token"],
  ["ax-4mib", ax((bytes) => frame(1, notification("notifications/x", numbers(bytes)))), mib(4) - 400, 1, "token"],
  ["ax-1mib", ax((bytes) => frame(1, notification("notifications/x", numbers(bytes)))), mib(1) - 400, 1, "token"],
  ["ax-4mib-post", requests(post("/ax", (bytes) => rpc("mcpax/register", empties(bytes)))), mib(4) - 400, 1, "token"],
  ["history-32", requests(history), 0, 32, "token"],
  ["history-unread-200", holds(history, "all"), 0, 200, "token"],
  ["ws-pings", room(() => frame(9, "")), 0, 1, "token"],
  ["ws-pings-125", room(() => frame(9, "x".repeat(125))), 0, 4, "token"],
  ["ws-pongs", room(() => frame(10, "")), 0, 1, "token"],
  ["ws-empty-continuations", room(() => frame(0, "", false)), 0, 1, "token"],
  ["ws-fragments", room(fragments), 1_000, 1, "token"],
  ["ws-bad-256kib-keys", room((bytes) => frame(1, envelope("nonsense", keys(bytes)))), kib(255), 1, "token"],
  ["ws-chat-flood", room(() => frame(1, envelope("chat", '{"text":"x"}'))), 0, 1, "token"],
  ["ws-chat-flood-victims-room", room(() => frame(1, envelope("chat", '{"text":"x"}')), "yard"), 0, 1, "token"],
  ["ws-presence-flood", room(() => frame(1, envelope("system", '{"type":"presence_status","status":"busy"}'))), 0, 1, "token"],
  ["ws-presence-flood-victims-room", room(() => frame(1, envelope("system", '{"type":"presence_status","status":"busy"}')), "yard"), 0, 1, "token"],
  ["ws-proposal-flood", room((bytes) => frame(1, envelope("mcp/proposal", `{"method":"tools/call","params":{"x":${text(bytes)}}}`))), kib(64), 1, "token"],
  ["ws-capability-requests", room(() => frame(1, envelope("mcp", '{"jsonrpc":"2.0","id":1,"method":"capabilities/request","params":{}}')), "lab/checked"), 0, 1, "token"],
  ["ws-refresh", room((bytes) => frame(1, envelope("system", `{"type":"refresh","token":${text(bytes)}}`))), kib(1), 1, "token"],
  ["ws-half-511kib-100", holds(upgrade("/v0/ws?topic=lab/half-{lane}"), "all", halfMessage), kib(511), 100, "token"],
  ["ax-half-4mib-100", holds(upgrade("/ax"), "all", halfMessage), mib(4) - 400, 100, "token"],
  ["ax-notifications", ax(() => frame(1, notification("notifications/x"))), 0, 1, "token"],
  ["ax-list-changed", ax(() => frame(1, notification("notifications/tools/list_changed"))), 0, 1, "token"],
  ["ax-heartbeats", ax(() => frame(1, rpc("mcpax/heartbeat", '{"session_id":"x"}'))), 0, 1, "token"],
  ["ax-pings", ax(() => frame(9, "")), 0, 1, "token"],
  ["ax-pongs", ax(() => frame(10, "")), 0, 1, "token"],
  ["ax-calls", ax(() => frame(1, rpc("tools/list", "{}"))), 0, 1, "token"],
  ["register-leave", { way: "registrations", list: tools }, mib(1), 1, "token"],
  ["register-leave-hollow", { way: "registrations", list: hollowTools }, mib(3), 1, "token"],
  ["find-tools-32", requests(modern("tools/call", { name: "find_tools", arguments: { query: words } }, { path: "/mcp/search" })), 0, 32, "token"],
  ["tools-list-32", requests(modern("tools/list", {})), 0, 32, "token"],
  ["status-32", requests(call("mcpax.status")), 0, 32, "token"],
  ["initialize-32", requests(initialize(text)), 0, 32, "token"],
  ["initialize-4mib-empties", requests(initialize(empties)), mib(4) - 400, 1, "token"],
  ["initialize-1mib-empties", requests(initialize(empties)), mib(1) - 400, 1, "token"],
  ["subscribe-32", requests(legacy("resources/subscribe", { uri: "mcpx://archive/archive:x" })), 0, 32, "token"],
  ["unsubscribe-32", requests(legacy("resources/unsubscribe", { uri: "mcpx://archive/archive:x" })), 0, 32, "token"],
  ["listen-32", visits(modern("subscriptions/listen", { notifications: { toolsListChanged: true } })), 0, 32, "token"],
  ["batch-100-4", requests({ ...legacy("ping", {}, "2025-03-26"), body: () => batch(rpc("tools/list", "{}"), 100) }), 0, 4, "token"],
  ["batch-100-32", requests({ ...legacy("ping", {}, "2025-03-26"), body: () => batch(rpc("tools/list", "{}"), 100) }), 0, 32, "token"],
  ["sse-32", visits({ ...get("/mcp"), headers: { accept: "text/event-stream" }, session: "2025-06-18" }), 0, 32, "token"],
  ["call-unknown-32", requests(call("evil.none", { x: 1 })), 0, 32, "token"],
  ["call-gate-32", requests(call("archive.read_record_0", { id: "x" })), 0, 32, "token"],
  ["room-mcp-list-32", requests(modern("tools/list", {}, { path: roomMcp })), 0, 32, "token"],
  ["room-mcp-history-32", requests(modern("tools/call", { name: "history.get", arguments: { limit: 100 } }, { path: "/rooms/lab%2Ffull/mcp" })), 0, 32, "token"],
  ["room-mcp-wait-4mib", requests(modern("tools/call", { name: "proposals.wait", arguments: { proposal_id: "none", timeout_ms: 100_000, x: "{fill}" } }, { path: roomMcp, fill: numbers })), mib(4) - 400, 16, "token"],
  ["room-mcp-wait-1mib", requests(modern("tools/call", { name: "proposals.wait", arguments: { proposal_id: "none", timeout_ms: 100_000, x: "{fill}" } }, { path: roomMcp, fill: numbers })), mib(1) - 400, 16, "token"],
  ["topics-32", requests(get("/v0/topics")), 0, 32, "token"],
  ["participants-32", requests(get("/v0/topics/lab%2Ffull/participants")), 0, 32, "token"],
  ["resume-20000", visits(upgrade("/v0/ws?topic=lab/full&resume={epoch}:0"), mib(4)), 0, 4, "token"],
  ["join-history-1000", visits(upgrade("/v0/ws?topic=lab/full&history=1000"), kib(200)), 0, 16, "token"],
  ["join-leave-64", visits(upgrade("/v0/ws?topic=lab/endpoint-{lane}")), 0, 64, "token"],
  ["tickets-32", requests(post("/v0/tickets", () => '{"topic":"lab/x"}')), 0, 32, "token"],
  ["tickets-64kib-32", requests(post("/v0/tickets", (bytes) => `{"topic":"lab/x","x":${empties(bytes)}}`)), kib(63), 32, "token"],
  ["forged-64", requests(get("/v0/topics")), 0, 64, "forged token"],
  ["handshakes-64", visits(upgrade("/v0/ws?topic=lab/x")), 0, 64, "forged token"],
  ["metrics-16", requests(get("/metrics")), 0, 16, "none"],
  ["static-32", requests(get("/")), 0, 32, "none"],
  ["oauth-metadata-32", requests(get("/.well-known/oauth-protected-resource")), 0, 32, "none"],
  ["jwks-32", requests(get("/.well-known/jwks.json")), 0, 32, "none"],
  ["login-options-32", requests(post("/console/login/options", () => "{}")), 0, 32, "none"],
  ["admin-audit-32", requests(get("/admin/audit?limit=1000")), 0, 32, "token"],
  ["admin-gates-32", requests(get("/admin/gates")), 0, 32, "token"],
  ["admin-proposals-32", requests(get("/admin/proposals")), 0, 32, "token"],
  ["approve-page-32", requests(get("/approve/nothing/call")), 0, 32, "none"],
  ["login-links-32", requests(get("/in/nothing")), 0, 32, "none"],
  ["ax-post-32", requests({ ...post("/ax", () => rpc("mcpax/heartbeat", "{}")), headers: { "mcpax-session": "none" } }), 0, 32, "token"],
  ["session-end-32", requests({ method: "DELETE", path: "/mcp", session: "2025-06-18" }), 0, 32, "token"],
  ["no-such-path-32", requests(get("/nothing")), 0, 32, "none"],
  ["half-heads-7000", holds(get("/v0/topics"), "half of the head"), 0, 7_000, "none"],
  ["half-bodies-300", holds(modern("ping", { x: "{fill}" }, { fill: text }), "all but the last byte"), mib(4) - 400, 300, "token"],
  ["half-bodies-1mib-300", holds(modern("ping", { x: "{fill}" }, { fill: text }), "all but the last byte"), mib(1) - 400, 300, "token"],
  ["device-zeros", { way: "noise", noise: (bytes) => Buffer.alloc(bytes) }, kib(64), 1, "none"],
  ["device-broken-frames", { way: "noise", noise: (bytes) => Buffer.alloc(bytes, Buffer.from([3, 0xff, 0xff, 0])) }, kib(64), 1, "none"],
];

export const attacks: readonly Attack[] = rows.map(([name, verb, bytes, concurrency, as]) => ({
  name,
  verb,
  bytes,
  concurrency,
  as,
}));
