import { createManualClock } from "@mcpx/host";
import { expect, test } from "vitest";
import {
  contentOf,
  events,
  initializeBody,
  json,
  openEndpoint,
  openSession,
  post,
  request,
  tool,
  until,
} from "./open-endpoint.ts";

const elicitation = { elicitation: {} };
const reasonOf = async (response: Response) =>
  ((await json(response)).error as { data?: { reason?: string } }).data?.reason;

function get(
  endpoint: { url: string; token: string },
  headers: Record<string, string>,
  init: RequestInit = {},
) {
  const all = { authorization: `Bearer ${endpoint.token}`, accept: "text/event-stream", ...headers };
  return fetch(endpoint.url, { headers: all, ...init });
}

test.each([
  ["2025-11-25", "2025-11-25"],
  ["2025-06-18", "2025-06-18"],
  ["2025-03-26", "2025-03-26"],
  ["2024-11-05", "2024-11-05"],
  ["2019-01-01", "2025-11-25"],
])("a client that asks for %s gets %s, and a session", async (asked, given) => {
  const endpoint = await openEndpoint();
  const response = await post(endpoint, initializeBody(asked));
  expect(response.headers.get("mcp-session-id")).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect((await json(response)).result).toEqual({
    protocolVersion: given,
    capabilities: expect.objectContaining({ logging: {}, completions: {} }),
    serverInfo: { name: "scripted", version: "1.0.0" },
    instructions: "Do as you are told.",
  });
});

test("results are in the legacy form, and errors too", async () => {
  const { send } = await openSession(await openEndpoint());
  const listed = (await json(await send(request(1, "tools/list")))).result as object;
  expect(Object.keys(listed)).toEqual(["tools"]);
  const read = await json(await send(request(2, "resources/read", { uri: "test://x" })));
  expect(read.error).toMatchObject({ code: -32002, data: { reason: "unknown_resource" } });
  const visit = await json(await send(tool(3, "refuses")));
  expect(visit.error).toMatchObject({
    code: -32042,
    data: { elicitations: [{ url: "https://example.com" }] },
  });
  expect((await json(await send(request(4, "ping")))).result).toEqual({});
  expect((await json(await send(request(5, "server/discover")))).error).toMatchObject({ code: -32601 });
  expect((await json(await send(request(6, "initialize", initializeBody().params)))).result).toMatchObject({
    protocolVersion: initializeBody().params.protocolVersion,
    serverInfo: expect.anything(),
  });
});

test("sessions: none is a 400, unknown ones and those of others a 404, ended ones too", async () => {
  const endpoint = await openEndpoint();
  const { headers, send } = await openSession(endpoint);
  const list = request(1, "tools/list");
  expect((await post(endpoint, list)).status).toBe(400);
  expect(
    (await post(endpoint, list, { ...headers, "mcp-session-id": `${headers["mcp-session-id"]}, x` })).status,
  ).toBe(400);
  const unknown = await post(endpoint, list, { "mcp-session-id": "nothing" });
  expect([unknown.status, await reasonOf(unknown)]).toEqual([404, "session_unknown"]);
  const bob = { ...endpoint, token: (await endpoint.mint("bob")).token };
  expect((await post(bob, list, headers)).status).toBe(404);
  expect((await get(bob, headers)).status).toBe(404);
  const remove = (token: string) =>
    fetch(endpoint.url, { method: "DELETE", headers: { ...headers, authorization: `Bearer ${token}` } });
  expect((await remove(bob.token)).status).toBe(404);
  expect((await send(list)).status).toBe(200);
  expect((await remove(endpoint.token)).status).toBe(204);
  expect((await send(list)).status).toBe(404);
  expect(endpoint.tree.left).toHaveLength(1);
  expect((await post(endpoint, list, { ...headers, "mcp-protocol-version": "1999-01-01" })).status).toBe(400);
});

test("what comes before a result makes it a stream that begins with an id to come back to", async () => {
  const { send } = await openSession(await openEndpoint());
  const stream = events(await send(tool(1, "notifies", { _meta: { progressToken: "t" } })));
  expect(await stream.read()).toEqual({ id: "1-0", data: "", retry: "1000" });
  const messages = await stream.rest();
  expect(messages.map(({ method, id }) => method ?? id)).toEqual([
    "notifications/progress",
    "notifications/message",
    "notifications/progress",
    1,
  ]);
  expect(messages[0]).toMatchObject({ params: { progressToken: "t" } });
  const older = await openSession(await openEndpoint(), "2025-06-18");
  const first = await events(await older.send(tool(1, "notifies"))).read();
  expect(first).toMatchObject({ id: "1-1", data: expect.stringContaining("notifications/message") });
});

test("log levels are kept for the session, and told", async () => {
  const endpoint = await openEndpoint();
  const { send } = await openSession(endpoint);
  expect((await json(await send(request(1, "logging/setLevel", { level: "error" })))).result).toEqual({});
  expect(contentOf(await json(await send(tool(2, "notifies"))))).toBe("done");
  expect(endpoint.tree.told).toEqual([["logging/setLevel", { level: "error" }]]);
  await send(request(3, "logging/setLevel", { level: "debug" }));
  expect(await events(await send(tool(4, "notifies"))).rest()).toHaveLength(3);
  expect((await json(await send(request(5, "logging/setLevel", { level: 7 })))).error).toMatchObject({
    code: -32602,
  });
});

test("a question goes out on its request's stream, and its answer back in", async () => {
  const endpoint = await openEndpoint();
  const { send } = await openSession(endpoint, "2025-11-25", elicitation);
  const stream = events(await send(tool("call", "asks")));
  const question = await stream.message();
  expect(question).toMatchObject({ method: "elicitation/create", params: { message: "your name?" } });
  expect((await send({ jsonrpc: "2.0", id: 999, result: {} })).status).toBe(202);
  expect((await send({ jsonrpc: "2.0", id: question.id, result: { action: "decline" } })).status).toBe(202);
  const [done] = await stream.rest();
  expect(JSON.parse(contentOf(done ?? {}))).toEqual({ name: { action: "decline" } });
});

test("a client's error to a question is the server's", async () => {
  const { send } = await openSession(await openEndpoint(), "2025-11-25", elicitation);
  const stream = events(await send(tool(1, "asks")));
  const { id } = await stream.message();
  await send({ jsonrpc: "2.0", id, error: { code: -1, message: "not now" } });
  expect(await stream.rest()).toMatchObject([{ id: 1, error: { code: -1, message: "not now" } }]);
});

test("a client that cannot be asked is not", async () => {
  const { send } = await openSession(await openEndpoint());
  expect((await json(await send(tool(1, "asks")))).error).toMatchObject({ code: -32601 });
});

test("questions of two sessions and two calls do not mix", async () => {
  const endpoint = await openEndpoint();
  const sessions = [
    await openSession(endpoint, "2025-11-25", elicitation),
    await openSession(endpoint, "2025-11-25", elicitation),
  ];
  const calls = await Promise.all(
    sessions.flatMap(({ send }, i) =>
      ["x", "y"].map(async (name) => ({
        send,
        name: `${i}${name}`,
        stream: events(await send(tool(1, "asks"))),
      })),
    ),
  );
  for (const { send, name, stream } of calls) {
    const { id } = await stream.message();
    await send({ jsonrpc: "2.0", id, result: { name } });
  }
  for (const { name, stream } of calls) {
    const [done] = await stream.rest();
    expect(JSON.parse(contentOf(done ?? {}))).toEqual({ name: { name } });
  }
});

test("cancelling ends a request without an answer", async () => {
  const endpoint = await openEndpoint();
  const { send } = await openSession(endpoint);
  const answers = [send(tool(1, "slow")), send(tool(1, "slow")), send(tool("1", "slow"))];
  await until(() => expect(endpoint.tree.exchanges).toHaveLength(3));
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  expect((await send(cancelled)).status).toBe(202);
  const [one, two] = await Promise.all(answers.slice(0, 2));
  expect([one?.status, two?.status]).toEqual([202, 202]);
  expect(endpoint.tree.exchanges.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  endpoint.tree.release();
  expect(contentOf(await json(await (answers[2] as Promise<Response>)))).toBe("released");
});

test("two requests with one id get an answer each", async () => {
  const { send } = await openSession(await openEndpoint());
  const [a, b] = await Promise.all([
    send(tool(1, "echo", { arguments: "a" })),
    send(tool(1, "echo", { arguments: "b" })),
  ]);
  expect(contentOf(await json(a as Response))).toContain('"a"');
  expect(contentOf(await json(b as Response))).toContain('"b"');
});

test("the session's own stream brings changes and updates; the newest of two is the one", async () => {
  const endpoint = await openEndpoint();
  const { headers, send } = await openSession(endpoint);
  const old = events(await get(endpoint, headers));
  const stream = events(await get(endpoint, headers));
  expect(await old.rest()).toEqual([]);
  expect((await json(await send(request(1, "resources/subscribe", { uri: "test://a" })))).result).toEqual({});
  expect(await reasonOf(await send(request(2, "resources/subscribe", { uri: "x:y" })))).toBe(
    "unknown_resource",
  );
  endpoint.tree.announce("notifications/tools/list_changed");
  endpoint.tree.announce("notifications/resources/updated", { uri: "test://a" });
  expect(await stream.message()).toMatchObject({ method: "notifications/tools/list_changed" });
  expect(await stream.message()).toMatchObject({ params: { uri: "test://a" } });
  await send(request(3, "resources/unsubscribe", { uri: "test://a" }));
  await until(() => expect(endpoint.tree.subscriptions.size).toBe(1));
  const caller = endpoint.tree.exchanges[0]?.caller ?? [...endpoint.tree.subscriptions][0]?.caller;
  caller?.deliver?.("notifications/message", { level: "error", data: "aside" });
  expect(await stream.message()).toMatchObject({
    method: "notifications/message",
    params: { data: "aside" },
  });
  await fetch(endpoint.url, {
    method: "DELETE",
    headers: { ...headers, authorization: `Bearer ${endpoint.token}` },
  });
  expect(await stream.rest()).toEqual([]);
  expect(endpoint.tree.subscriptions.size).toBe(0);
});

test("questions that belong to no request go over the session's own stream, where there is one", async () => {
  const endpoint = await openEndpoint();
  const { headers, send } = await openSession(endpoint, "2025-11-25", { roots: {} });
  await send(request(1, "tools/list"));
  const ask = () => endpoint.tree.exchanges[0]?.caller.askAside?.({ method: "roots/list" });
  await expect(ask()).rejects.toMatchObject({ fault: { code: -32601 } });
  const stream = events(await get(endpoint, headers));
  await stream.read();
  const answer = ask();
  const { id, method } = await stream.message();
  expect(method).toBe("roots/list");
  await send({ jsonrpc: "2.0", id, result: { roots: [] } });
  expect(await answer).toEqual({ roots: [] });
  await send({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
  expect(endpoint.tree.told).toEqual([["notifications/roots/list_changed", {}]]);
});

test("[B-TREE-2] where it has no stream of its own yet, a question comes on that of a request under way", async () => {
  const endpoint = await openEndpoint();
  const { send } = await openSession(endpoint, "2025-11-25", { roots: {} });
  const stream = events(await send(tool(1, "speaks")));
  await stream.message();
  const answer = endpoint.tree.exchanges[0]?.caller.askAside?.({ method: "roots/list" });
  const { id, method } = await stream.message();
  expect(method).toBe("roots/list");
  await send({ jsonrpc: "2.0", id, result: { roots: [] } });
  expect(await answer).toEqual({ roots: [] });
  endpoint.tree.release();
  await stream.rest();
});

test("a stream that was cut goes on being filled, and is come back to", async () => {
  const endpoint = await openEndpoint();
  const { headers, send } = await openSession(endpoint);
  const leaving = new AbortController();
  const stream = events(await send(tool(1, "speaks"), { signal: leaving.signal }));
  await stream.read();
  const first = await stream.read();
  leaving.abort();
  endpoint.tree.release();
  const again = events(await get(endpoint, { ...headers, "last-event-id": first?.id ?? "" }));
  expect(await again.rest()).toMatchObject([{ params: { data: "second" } }, { id: 1, result: {} }]);
  // From the start, and again: what came is still there.
  const whole = events(await get(endpoint, { ...headers, "last-event-id": "1-0" }));
  expect(await whole.rest()).toHaveLength(3);
  for (const id of ["9-1", "nonsense", "1-1-1", "-1"]) {
    expect((await get(endpoint, { ...headers, "last-event-id": id })).status).toBe(400);
  }
});

test("the session's own stream is come back to as well", async () => {
  const endpoint = await openEndpoint();
  const { headers } = await openSession(endpoint);
  const leaving = new AbortController();
  const stream = events(await get(endpoint, headers, { signal: leaving.signal }));
  const primer = await stream.read();
  leaving.abort();
  endpoint.tree.announce("notifications/tools/list_changed");
  const again = events(await get(endpoint, { ...headers, "last-event-id": primer?.id ?? "" }));
  expect(await again.message()).toMatchObject({ method: "notifications/tools/list_changed" });
});

test("a call whose stream nobody comes back to is cancelled; so is one that had none", async () => {
  const clock = createManualClock(Date.now());
  const endpoint = await openEndpoint({ endpoint: { clock } });
  const { send } = await openSession(endpoint);
  const leaving = new AbortController();
  const stream = events(await send(tool(1, "speaks"), { signal: leaving.signal }));
  await stream.message();
  const plain = send(tool(2, "slow"), { signal: leaving.signal });
  plain.catch(() => {});
  await until(() => expect(endpoint.tree.exchanges).toHaveLength(2));
  leaving.abort();
  await until(() => expect(endpoint.tree.exchanges[1]?.signal.aborted).toBe(true));
  expect(endpoint.tree.exchanges[0]?.signal.aborted).toBe(false);
  await until(() => {
    clock.advance(30_001);
    expect(endpoint.tree.exchanges[0]?.signal.aborted).toBe(true);
  });
});

test("a request that takes long becomes a stream that is kept alive", async () => {
  const clock = createManualClock(Date.now());
  const endpoint = await openEndpoint({ endpoint: { clock } });
  const { send } = await openSession(endpoint);
  const answer = send(tool(1, "slow"));
  await until(() => expect(endpoint.tree.exchanges).toHaveLength(1));
  clock.advance(10_001);
  const stream = events(await answer);
  endpoint.tree.release();
  expect(contentOf(await stream.message())).toBe("released");
});

test("batches are for 2025-03-26 alone", async () => {
  const endpoint = await openEndpoint();
  const { send } = await openSession(endpoint, "2025-03-26");
  const batch = [request(1, "ping"), { jsonrpc: "2.0", method: "notifications/x" }, tool(2, "echo")];
  const answers = (await json(await send(batch))) as unknown as { id: number }[];
  expect(answers.map(({ id }) => id).sort()).toEqual([1, 2]);
  expect((await send([{ jsonrpc: "2.0", method: "notifications/x" }])).status).toBe(202);
  const streamed = await events(await send([tool(1, "notifies"), request(2, "ping")])).rest();
  expect(streamed.at(-1)).toHaveLength(2);
  for (const bad of [[], [1], [request(1, "initialize")], Array(101).fill(request(1, "ping"))]) {
    expect((await send(bad)).status).toBe(400);
  }
  const newer = await openSession(endpoint, "2025-06-18");
  const refused = await newer.send(batch);
  expect([refused.status, (await json(refused)).error]).toMatchObject([400, { code: -32600 }]);
});

test("sessions end when idle, make room for new ones, and are bounded", async () => {
  const clock = createManualClock(Date.now());
  const limits = { mcpSessionsPerPrincipalMax: 2, mcpSessionsMax: 3 };
  const endpoint = await openEndpoint({ endpoint: { clock }, limits });
  const first = await openSession(endpoint);
  clock.advance(1_000);
  const second = await openSession(endpoint);
  const open = events(await get(endpoint, second.headers));
  const third = await openSession(endpoint);
  expect((await first.send(request(1, "ping"))).status).toBe(404);
  const busy = third.send(tool(1, "slow"));
  await until(() => expect(endpoint.tree.exchanges).toHaveLength(1));
  expect(await reasonOf(await post(endpoint, initializeBody()))).toBe("too_many_sessions");
  const bob = { ...endpoint, token: (await endpoint.mint("bob")).token };
  await openSession(bob);
  const carol = { ...endpoint, token: (await endpoint.mint("carol")).token };
  expect((await post(carol, initializeBody())).status).toBe(429);
  endpoint.tree.release();
  await busy;
  clock.advance(1_800_001);
  await until(() => expect(endpoint.tree.left).toHaveLength(3));
  // The one somebody listens to is alive.
  endpoint.tree.announce("notifications/tools/list_changed");
  expect(await open.message()).toMatchObject({ method: "notifications/tools/list_changed" });
});
