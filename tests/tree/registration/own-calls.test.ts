// Calls that a subserver makes of the tree over its own connection, by registrants that are none of ours.
import { randomUUID } from "node:crypto";
import { harmless } from "@mcpx/protocol";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newKey, sign } from "../../gates/support/gate-room.ts";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { callTool, type Place } from "../support/ask.ts";
import {
  dangerous,
  type Message,
  type RawOptions,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";
import { type StreamedRegistrant, streamedRegistrant } from "./support/streamed-registrant.ts";

let server: TestServer;
let alice: Place;
let press: RawRegistrant;
const key = newKey();
const open: RawRegistrant[] = [];
const streams: StreamedRegistrant[] = [];
/** Calls of `press.hold` wait for this. */
let held = Promise.withResolvers<object>();

beforeAll(async () => {
  server = await startTestServer({
    limits: { subserverCallsMax: 3 },
    config: {
      budgets: {
        metered: { max_calls_per_minute: 3 },
        changing: { max_mutable_calls_per_session: 1 },
        payer: { max_calls_per_minute: 1 },
        rich: { max_calls_per_minute: 5 },
        poor: { max_calls_per_minute: 0 },
      },
      gates: {
        hold: 0,
        anchors: [{ name: "alice", jwk: key.jwk as { kty: string } }],
        rules: [
          { tools: "press.stamp", action: "ask" },
          { tools: "**", action: "allow" },
        ],
      },
    },
  });
  alice = {
    url: `${server.url}/mcp`,
    token: await server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
  const tools = [
    toolOf("print"),
    toolOf("stamp", dangerous),
    toolOf("hold", { ...harmless, latency_class: "batch" }),
  ];
  const call = (params: Message) => (params.name === "hold" ? held.promise : said(params));
  press = await registered("press", { options: { tools, call } });
});

afterAll(async () => {
  for (const one of open) one.cut();
  for (const one of streams) one.cut();
  await server.stop();
});

const said = (params: Message) => ({ content: [{ type: "text", text: JSON.stringify(params) }] });
const reasonOf = ({ error }: Message): string | undefined => error?.data?.reason;
const textOf = ({ result }: Message): Message => JSON.parse(result.content[0].text);
const callsOf = ({ asked }: RawRegistrant): Message[] =>
  asked.filter(({ method }) => method === "tools/call");
const tokenFor = (segment: string, claims: object) =>
  server.token({ sub: `of:${segment}`, topics: [], segment, scope: "write", ...claims } as never);

interface Coming {
  claims?: object;
  options?: RawOptions;
  more?: object;
}

/** With a tool `t` of its own unless others are given. */
async function registered(
  segment: string,
  { claims = {}, options = {}, more = {} }: Coming = {},
): Promise<RawRegistrant> {
  const token = await tokenFor(segment, claims);
  const registrant = await rawRegistrant(server.url, token, {
    parentId: null,
    tools: [toolOf("t")],
    ...options,
  });
  open.push(registrant);
  expect((await registrant.register(registrationOf(segment, more))).result.status).toBe("registered");
  return registrant;
}

const budgetOf = async (segment: string): Promise<Message> => {
  const { message } = await callTool(alice, "mcpax.status");
  const { servers } = JSON.parse(message.result.content[0].text);
  return servers.find(({ name }: Message) => name === segment).budget;
};

const all = { tools: ["**"] };
const call = (registrant: RawRegistrant, name: string, args: object = {}, more: object = {}) =>
  registrant.request("tools/call", { name, arguments: args, ...more });
const listed = async (registrant: RawRegistrant): Promise<string[]> =>
  (await registrant.request("tools/list")).result.tools.map(({ name }: Message) => name);

test("[AX-11.4-3] a subserver whose token has no tools lists nothing and can call nothing", async () => {
  const edge = await registered("unclaimed");
  const before = callsOf(press).length;
  expect(await listed(edge)).toEqual([]);
  for (const name of ["press.print", "mcpax.status", "unclaimed.t", "nobody.t"]) {
    expect((await call(edge, name)).error).toMatchObject({ code: -32601, data: { reason: "unknown_tool" } });
  }
  expect(callsOf(press)).toHaveLength(before);
});

test("[AX-11.4-3] its token's tools are listed and called, and it is the actor and the asker", async () => {
  await registered("below", { more: { "x-mcpax-subtree-ids": [randomUUID()] } });
  const edge = await registered("caller", { claims: { tools: ["press.print", "below.*", "caller.t"] } });
  await expect.poll(() => listed(edge)).toEqual(["below.t", "press.print"]);
  const _meta = {
    "x-mcpax-route": ["forged", "print"],
    "x-mcpax-cursor": 1,
    "x-mcpax-asker": { name: "admin", keys: [] },
    "X-McpAx-Note": 1,
    progressToken: "mine",
    kept: 1,
  };
  const answered = await call(edge, "press.print", { text: "hello", n: [1] }, { _meta });
  expect(textOf(answered)).toEqual({
    name: "print",
    arguments: { text: "hello", n: [1] },
    _meta: expect.objectContaining({ kept: 1 }),
  });
  expect(JSON.stringify(callsOf(press).at(-1))).not.toMatch(/x-mcpax|"mine"/i);
  expect(textOf(await call(edge, "below.t", {}, { _meta }))._meta).toMatchObject({
    "x-mcpax-route": ["below", "t"],
    "x-mcpax-asker": { name: "of:caller", keys: [] },
  });
  expect(reasonOf(await call(edge, "press.stamp"))).toBe("unknown_tool");
  const admin = await server.adminToken();
  const audit = () => server.call("GET", "/admin/audit?action=tool.call&actor=of:caller&limit=9", admin);
  const rows = async () =>
    (await audit()).body.records.map((row: Message) => [row.subject, ...(row.reason ? [row.reason] : [])]);
  await expect.poll(rows).toHaveLength(3);
  expect((await rows()).toSorted()).toEqual([["below.t"], ["press.print"], ["press.stamp", "unknown_tool"]]);
});

test("[AX-11.4-3] [AX-6.1-3] the ids of its requests have nothing to do with those it is asked with", async () => {
  const edge = await registered("ids", { claims: all });
  const raw = new Promise<Message>((resolve) => {
    edge.socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      if (message.method === undefined && message.result?.content !== undefined) resolve(message);
    });
  });
  const into = callTool(alice, "ids.t", { into: true });
  await expect.poll(() => callsOf(edge)).toHaveLength(1);
  const { id } = callsOf(edge)[0];
  const params = { name: "press.print", arguments: { out: true } };
  edge.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
  expect((await raw).id).toBe(id);
  expect(textOf(await raw).arguments).toEqual({ out: true });
  expect(textOf((await into).message).arguments).toEqual({ into: true });
});

test("[AX-11.4-3] [AX-11.3-1] at a gate it waits as every caller, and pays when the call is let go", async () => {
  const edge = await registered("changing", { claims: all });
  const before = callsOf(press).length;
  const first = await call(edge, "press.stamp", { n: 1 });
  const terms = first.result.structuredContent;
  expect(terms).toMatchObject({ status: "confirmation_required", tool: "press.stamp", arguments: { n: 1 } });
  const gates = await server.call("GET", "/admin/gates?status=pending", await server.adminToken());
  expect(gates.body.gates).toMatchObject([{ principal: "of:changing" }]);
  expect((await call(edge, "press.stamp", { n: 1 })).result.structuredContent).toMatchObject({
    confirmation_id: terms.confirmation_id,
  });
  expect(callsOf(press)).toHaveLength(before);
  const decided = await fetch(`${server.url}/approve/${terms.confirmation_id}/decision`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ proof: await sign(terms, "approve", key) }),
  });
  expect(decided.status).toBe(200);
  const waited = await call(edge, "mcpax.wait", { confirmation_id: terms.confirmation_id });
  expect(textOf(waited).arguments).toEqual({ n: 1 });
  expect(callsOf(press)).toHaveLength(before + 1);
  expect(await budgetOf("changing")).toEqual({ max_mutable_calls_per_session: { limit: 1, used: 1 } });
});

test("[AX-11.4-3] calls into it and calls it makes use up one budget; only it hears that its own is spent", async () => {
  const edge = await registered("metered", { claims: all });
  expect(textOf(await call(edge, "press.print", { n: 1 })).arguments).toEqual({ n: 1 });
  expect((await callTool(alice, "metered.t")).message.result).toBeDefined();
  expect(textOf(await call(edge, "press.print", { n: 2 })).arguments).toEqual({ n: 2 });
  const before = callsOf(press).length;
  const raced = await Promise.all([call(edge, "press.print"), call(edge, "press.print")]);
  for (const { error } of raced) {
    expect(error).toMatchObject({
      code: -32003,
      message: "budget_exceeded",
      data: {
        reason: "budget_exceeded",
        budget: "max_calls_per_minute",
        limit: 3,
        used: 3,
        retry_after_ms: expect.any(Number),
      },
    });
  }
  expect(callsOf(press)).toHaveLength(before);
  expect((await callTool(alice, "metered.t")).message.error.message).toBe("budget_exceeded");
  expect((await callTool(alice, "press.print")).message.result).toBeDefined();
  expect(JSON.stringify(press.asked)).not.toContain("budget_exceeded");
});

test("[AX-11.4-3] of a call between two subservers both pay, or neither", async () => {
  await registered("poor");
  await registered("rich");
  const edge = await registered("payer", { claims: all });
  expect((await call(edge, "poor.t")).error).toMatchObject({ code: -32003, data: { limit: 0 } });
  expect((await call(edge, "press.print")).result).toBeDefined();
  expect((await call(edge, "rich.t")).error).toMatchObject({ code: -32003, data: { limit: 1, used: 1 } });
  expect(await budgetOf("rich")).toEqual({ max_calls_per_minute: { limit: 5, used: 0 } });
});

test("[AX-11.4-3] its own tools are refused, of an aggregator all below it", async () => {
  const tree = await registered("loop", {
    claims: all,
    options: { tools: [toolOf("t"), toolOf("deep.t")] },
    more: { "x-mcpax-subtree-ids": [randomUUID()] },
  });
  await expect.poll(async () => (await callTool(alice, "loop.deep.t")).message.result).toBeDefined();
  const before = callsOf(tree).length;
  for (const name of ["loop.t", "loop.deep.t"]) {
    expect((await call(tree, name)).error).toMatchObject({
      code: -32602,
      data: { reason: "bad_params", detail: expect.stringContaining(`${name} is the caller's own tool`) },
    });
  }
  expect(callsOf(tree)).toHaveLength(before);
  expect((await listed(tree)).filter((name) => name.startsWith("loop."))).toEqual([]);
});

test("[AX-11.4-3] without a registration, after leaving and without a lease nothing can be called", async () => {
  const stranger = await rawRegistrant(server.url, await tokenFor("early", all), { parentId: null });
  expect((await call(stranger, "press.print")).error).toMatchObject({
    code: -32601,
    data: { reason: "unknown_method" },
  });
  expect((await stranger.closed).code).toBe(4403);
  const silent = await rawRegistrant(server.url, await tokenFor("silent", all), { parentId: null });
  const leased = await silent.register(registrationOf("silent", { heartbeat_interval_ms: 1_000 }));
  expect((await call(silent, "press.print")).result).toBeDefined();
  await expect
    .poll(async () => reasonOf(await call(silent, "press.print")), { timeout: 2_800 })
    .toBe("registration_unknown");
  await silent.request("mcpax/heartbeat", { session_id: leased.result.session_id });
  expect((await call(silent, "press.print")).result).toBeDefined();
  open.push(silent);
  const leaver = await rawRegistrant(server.url, await tokenFor("leaver", all), { parentId: null });
  const { session_id } = (await leaver.register(registrationOf("leaver"))).result;
  expect((await call(leaver, "press.print")).result).toBeDefined();
  const before = callsOf(press).length;
  const left = leaver.request("mcpax/deregister", { session_id });
  const late = call(leaver, "press.print");
  expect((await left).result).toEqual({ status: "deregistered" });
  expect(reasonOf(await late)).toBe("registration_unknown");
  expect(callsOf(press)).toHaveLength(before);
});

test("[AX-11.4-3] so many are under way and no more; they can be cancelled, and end with the connection", async () => {
  const edge = await registered("busy", { claims: all });
  const cancelled = () => press.asked.filter(({ method }) => method === "notifications/cancelled").length;
  const before = { calls: callsOf(press).length, cancelled: cancelled() };
  held = Promise.withResolvers();
  const answers: Message[] = [];
  edge.socket.on("message", (data) => answers.push(JSON.parse(String(data))));
  for (const id of ["a", "b", "c", "d"]) {
    const params = { name: "press.hold", arguments: {}, _meta: { progressToken: "mine" } };
    edge.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }));
  }
  await expect.poll(() => answers.find(({ id }) => id === "d")?.error.data.reason).toBe("rate_limited");
  await expect.poll(() => callsOf(press).length - before.calls).toBe(3);
  const { progressToken } = callsOf(press).at(-1).params._meta;
  press.notify("notifications/progress", { progressToken, progress: 1, message: "half" });
  await expect
    .poll(() => answers.find(({ method }) => method === "notifications/progress")?.params)
    .toEqual({ progressToken: "mine", progress: 1, message: "half" });
  edge.notify("notifications/cancelled", { requestId: "a" });
  await expect.poll(() => cancelled() - before.cancelled).toBe(1);
  expect((await call(edge, "press.print")).result).toBeDefined();
  expect(answers.some(({ id }) => id === "a")).toBe(false);
  edge.cut();
  await expect.poll(() => cancelled() - before.cancelled).toBe(3);
  held.resolve(said({}));
});

test("[AX-11.4-3] over HTTP it is answered in the response, with the tools of the token that asks", async () => {
  const edge = await streamedRegistrant(server.url, await tokenFor("stream", all), "stream", [toolOf("t")]);
  streams.push(edge);
  await edge.answer;
  const say = async (method: string, params: object, token?: string): Promise<Message> =>
    (await edge.post({ id: 7, method, params }, edge.session, token)).json();
  const { result } = await say("tools/list", {});
  expect(result.tools.map(({ name }: Message) => name)).toContain("press.print");
  const answered = await say("tools/call", { name: "press.print", arguments: { over: "http" } });
  expect([answered.id, textOf(answered).arguments]).toEqual([7, { over: "http" }]);
  const unclaimed = await tokenFor("stream", {});
  expect(reasonOf(await say("tools/call", { name: "press.print" }, unclaimed))).toBe("unknown_tool");
  expect(reasonOf(await say("tools/call", { name: "stream.t" }))).toBe("bad_params");
  held = Promise.withResolvers();
  const before = callsOf(press).length;
  const waiting = say("tools/call", { name: "press.hold", arguments: {} });
  await expect.poll(() => callsOf(press).length).toBe(before + 1);
  await say("mcpax/deregister", { session_id: edge.session });
  expect(reasonOf(await waiting)).toBe("registration_unknown");
  held.resolve(said({}));
});
