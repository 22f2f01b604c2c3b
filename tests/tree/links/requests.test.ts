// What belongs to a request: progress, messages, questions, its cancellation. Over one channel, where all of it has to
// be told apart, in both eras.
import { McpxError } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { hostile, openTo } from "./support/open.ts";

const eras = ["legacy", "modern"] as const;

interface Message {
  id?: unknown;
  method?: string;
  params?: { requestId?: unknown; reason?: string; uri?: string; level?: string };
}

test.each(eras)(
  "%s: progress has a token only where it is wanted, and reaches whom it is for",
  async (era) => {
    const { call, notifications } = await openTo(hostile("--era", era));
    const heard: unknown[] = [];
    const notify = (method: string, params: unknown) => void heard.push([method, params]);
    expect(await call("progress", {}, { notify })).toEqual({});
    expect(heard).toEqual([["notifications/message", { level: "info", data: "working" }]]);
    heard.length = 0;
    const { progressToken } = (await call("progress", {}, { notify, wantsProgress: true })) as {
      progressToken: number;
    };
    expect(progressToken).toBeTypeOf("number");
    expect(heard).toEqual([
      ["notifications/progress", { progress: 1 }],
      ["notifications/message", { level: "info", data: "working" }],
    ]);
    expect(notifications).toEqual([]);
  },
);

test.each(eras)("%s: cancelled, it is told to the server, and rejects with the reason", async (era) => {
  const { call } = await openTo(hostile("--era", era));
  const stop = new AbortController();
  const hanging = call("hang", {}, { signal: stop.signal });
  const reason = new McpxError("timeout", "too slow");
  stop.abort(reason);
  await expect(hanging).rejects.toBe(reason);
  await expect(call("echo", {}, { signal: stop.signal })).rejects.toBe(reason);
  const received = (await call("received")) as Message[];
  const hung = received.filter(({ method }) => method === "tools/call").at(0);
  const cancelled = received.filter(({ method }) => method === "notifications/cancelled");
  expect(cancelled).toHaveLength(1);
  expect(cancelled[0]?.params?.requestId).toBe(hung?.id);
});

test("legacy: a question belongs to the request that has waited longest, and is answered by its caller", async () => {
  const { call, questions } = await openTo(hostile());
  const stop = new AbortController();
  const asked: unknown[] = [];
  const hanging = call(
    "hang",
    {},
    {
      signal: stop.signal,
      ask: async (given) => {
        asked.push(given);
        return { q1: { action: "accept", content: { n: 1 } } };
      },
    },
  );
  expect(await call("ask", { message: "who?" })).toMatchObject({
    id: "q1",
    result: { action: "accept", content: { n: 1 } },
  });
  expect(asked).toEqual([{ q1: { method: "elicitation/create", params: { message: "who?" } } }]);
  expect(questions).toEqual([]);
  stop.abort(new McpxError("timeout"));
  await expect(hanging).rejects.toThrow();
});

test("legacy: what its caller refuses is an error at the server", async () => {
  const { call } = await openTo(hostile());
  const ask = () => Promise.reject(new McpxError("kind_not_allowed", "not you"));
  expect(await call("ask", {}, { ask })).toMatchObject({ id: "q1", error: { data: { detail: "not you" } } });
});

test("legacy: a question while nobody asks anything goes to the link's own taker", async () => {
  const { call, questions } = await openTo(hostile());
  await call("ask-later");
  await expect.poll(() => questions).toEqual([{ method: "roots/list", params: {} }]);
  await expect
    .poll(async () => (await call("received")) as Message[])
    .toContainEqual({
      jsonrpc: "2.0",
      id: "q2",
      result: { roots: [] },
    });
});

test("legacy: ping is answered by the link, and what nobody knows is not found", async () => {
  const { call } = await openTo(hostile());
  expect(await call("ask-odd")).toEqual([
    { jsonrpc: "2.0", id: "p", result: {} },
    { jsonrpc: "2.0", id: "o", error: { code: -32601, message: "Method not found" } },
  ]);
});

test("modern: a question is no part of the era and is dropped", async () => {
  const { call, logLines } = await openTo(hostile("--era", "modern"));
  await call("ask-later");
  await expect.poll(() => logLines).toContain("(a question was dropped: roots/list; this era has none)");
});

test("legacy: what is watched and the level of the log are told once each, the last one wins", async () => {
  const { link, call } = await openTo(hostile());
  link.watch(new Set(["a:1", "a:2"]));
  link.setLogLevel("debug");
  link.setLogLevel("error");
  link.setLogLevel("error");
  link.watch(new Set(["a:2", "a:3"]));
  const told = async () =>
    ((await call("received")) as Message[]).flatMap(({ method = "", params }) =>
      /^(resources|logging)/.test(method) ? [`${method} ${params?.uri ?? params?.level}`] : [],
    );
  await expect.poll(told).toContain("resources/unsubscribe a:1");
  const all = await told();
  expect(all.filter((line) => line.endsWith("a:2"))).toHaveLength(1);
  expect(all.filter((line) => line.startsWith("logging/")).at(-1)).toBe("logging/setLevel error");
});

test("modern: every request says for whom it is", async () => {
  const { call } = await openTo(hostile("--era", "modern"));
  await call("echo", {}, { capabilities: { sampling: {} }, info: { name: "caller" }, logLevel: "error" });
  const received = (await call("received")) as { method: string; params: { _meta: object } }[];
  expect(received.find(({ method }) => method === "tools/call")?.params._meta).toEqual({
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "caller" },
    "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    "io.modelcontextprotocol/logLevel": "error",
  });
});

test("modern: one subscription tells of all changes; where the wishes change, the new one stands first", async () => {
  const { link, call } = await openTo(hostile("--era", "modern"));
  link.watch(new Set(["a:1"]));
  const listens = async () =>
    (
      (await call("received")) as { id?: string; method: string; params: { notifications?: object } }[]
    ).filter(({ method }) => method === "subscriptions/listen" || method === "notifications/cancelled");
  await expect
    .poll(listens)
    .toMatchObject([
      { id: "listen-1", params: { notifications: { toolsListChanged: true, resourcesListChanged: true } } },
      { id: "listen-2", params: { notifications: { resourceSubscriptions: ["a:1"] } } },
      { params: { requestId: "listen-1" } },
    ]);
});
