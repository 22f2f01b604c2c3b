import { PassThrough } from "node:stream";
import { createLogger, type Principal, systemClock } from "@mcpx/host";
import { defaultLimits, type JsonObject, type Limits } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { serveStdio } from "../../../packages/aggregator/src/endpoints/stdio.ts";
import { contentOf, initializeBody, modernMeta, request, tool, until } from "./open-endpoint.ts";
import { createScriptedTree } from "./scripted-tree.ts";

const log = createLogger({ level: "silent" });
const principal: Principal = {
  id: "local",
  topics: [],
  levelMax: "full",
  tools: ["**"],
  admin: false,
  expiresAt: Number.POSITIVE_INFINITY,
  jti: "local",
  issuer: "local",
  tokenHash: "",
};

function open(limits: Partial<Limits> = {}) {
  const tree = createScriptedTree();
  const input = new PassThrough();
  const output = new PassThrough();
  const endpoint = serveStdio(tree, principal, {
    input,
    output,
    log,
    clock: systemClock,
    limits: { ...defaultLimits, ...limits },
  });
  onTestFinished(() => endpoint.close());
  const lines = output[Symbol.asyncIterator]();
  const messages: JsonObject[] = [];
  let rest = "";
  return {
    tree,
    endpoint,
    input,
    send: (...bodies: unknown[]) =>
      void input.write(
        bodies.map((body) => `${typeof body === "string" ? body : JSON.stringify(body)}\n`).join(""),
      ),
    async next(): Promise<JsonObject> {
      while (messages.length === 0) {
        const { value, done } = await lines.next();
        if (done) throw new Error("the output is over");
        const parts = (rest + value).split("\n");
        rest = parts.pop() ?? "";
        messages.push(...parts.map((part) => JSON.parse(part)));
      }
      return messages.shift() as JsonObject;
    },
  };
}

const modern = (id: unknown, method: string, params: JsonObject = {}, meta: JsonObject = {}) =>
  request(id, method, { ...params, _meta: { ...modernMeta, ...meta } });
const elicits = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };

test("both eras come on one channel", async () => {
  const { tree, send, next } = open();
  send(modern("d", "server/discover"));
  expect(await next()).toMatchObject({ id: "d", result: { supportedVersions: ["2026-07-28"] } });
  send(request(0, "tools/list"));
  expect(await next()).toMatchObject({ id: 0, error: { code: -32600 } });
  send(request(0, "ping"));
  expect(await next()).toEqual({ jsonrpc: "2.0", id: 0, result: {} });
  send(initializeBody("2025-06-18"));
  expect(await next()).toMatchObject({ id: 0, result: { protocolVersion: "2025-06-18" } });
  send({ jsonrpc: "2.0", method: "notifications/initialized" }, tool(1, "who"));
  expect(contentOf(await next())).toContain('"legacy"');
  send(modern(2, "tools/call", { name: "who" }));
  expect(contentOf(await next())).toContain('"modern"');
  tree.announce("notifications/tools/list_changed");
  expect(await next()).toMatchObject({ method: "notifications/tools/list_changed" });
  send(initializeBody());
  expect(await next()).toMatchObject({ id: 0, error: { code: -32600 } });
});

test("legacy questions are requests, modern ones results", async () => {
  const { send, next } = open();
  send(initializeBody("2025-11-25", { elicitation: {} }));
  await next();
  send(tool(1, "asks"));
  const { id, method } = await next();
  expect(method).toBe("elicitation/create");
  send({ jsonrpc: "2.0", id, result: { action: "cancel" } });
  expect(contentOf(await next())).toContain("cancel");
  send(modern(2, "tools/call", { name: "asks" }, elicits));
  const { result } = await next();
  const { inputRequests, requestState } = result as { inputRequests: JsonObject; requestState: string };
  const inputResponses = Object.fromEntries(
    Object.keys(inputRequests).map((key) => [key, { action: "decline" }]),
  );
  send(modern(3, "tools/call", { name: "asks", requestState, inputResponses }, elicits));
  expect(contentOf(await next())).toContain("decline");
});

test("a request in either era is cancelled by its id, without an answer", async () => {
  const { tree, send, next } = open();
  send(initializeBody());
  await next();
  send(tool(1, "slow"), modern(2, "tools/call", { name: "slow" }));
  await until(() => expect(tree.exchanges).toHaveLength(2));
  for (const requestId of [1, 2])
    send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  await until(() => expect(tree.exchanges.every(({ signal }) => signal.aborted)).toBe(true));
  send(request(3, "ping"));
  expect(await next()).toMatchObject({ id: 3 });
});

test("an id in use is refused, and free again after", async () => {
  const { tree, send, next } = open();
  send(initializeBody());
  await next();
  send(tool(1, "slow"));
  await until(() => expect(tree.exchanges).toHaveLength(1));
  send(tool(1, "echo"));
  expect(await next()).toMatchObject({ id: 1, error: { code: -32600 } });
  send(modern(1, "tools/list"));
  expect(await next()).toMatchObject({ id: 1, error: { code: -32600 } });
  tree.release();
  expect(contentOf(await next())).toBe("released");
  send(tool(1, "echo"));
  expect((await next()).result).toBeDefined();
});

test("listening shares the channel, and ends well with the input", async () => {
  const { tree, endpoint, input, send, next } = open();
  send(modern("s", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
  const mark = { "io.modelcontextprotocol/subscriptionId": "s" };
  expect(await next()).toMatchObject({
    method: "notifications/subscriptions/acknowledged",
    params: { _meta: mark },
  });
  tree.announce("notifications/tools/list_changed");
  expect(await next()).toMatchObject({ params: { _meta: mark } });
  send(modern("t", "subscriptions/listen", { notifications: { toolsListChanged: true } }));
  await next();
  send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "t" } });
  await until(() => expect(tree.subscriptions.size).toBe(1));
  input.end();
  expect(await next()).toMatchObject({ id: "s", result: { resultType: "complete" } });
  await endpoint.closed;
  expect(tree.subscriptions.size).toBe(0);
});

test("what was asked before the input ended is answered", async () => {
  const { tree, endpoint, input, send, next } = open();
  send(modern(1, "tools/call", { name: "slow" }));
  await until(() => expect(tree.exchanges).toHaveLength(1));
  input.end();
  tree.release();
  expect(contentOf(await next())).toBe("released");
  await endpoint.closed;
});

test("nonsense is refused, and the next line is read", async () => {
  const { tree, input, send, next } = open({ mcpBodyBytesMax: 1_000 });
  send("hello");
  expect(await next()).toMatchObject({ id: null, error: { code: -32700 } });
  send('{"jsonrpc":"2.0","id":1.5,"method":"ping"}');
  expect(await next()).toMatchObject({ id: null, error: { code: -32600 } });
  send("[]");
  expect(await next()).toMatchObject({ id: null, error: { code: -32600 } });
  send("x".repeat(5_000));
  expect(await next()).toMatchObject({ error: { data: { reason: "too_large" } } });
  input.write(Buffer.from([0xff, 0x0a]));
  expect(await next()).toMatchObject({ error: { data: { reason: "bad_utf8" } } });
  send(request(1, "tools/list", { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } }));
  expect(await next()).toMatchObject({ id: 1, error: { code: -32602 } });
  send(modern(1, "tools/list", {}, { "io.modelcontextprotocol/protocolVersion": "2099-01-01" }));
  expect(await next()).toMatchObject({ id: 1, error: { code: -32022 } });
  send("", "  ", request("last", "ping"));
  expect(await next()).toMatchObject({ id: "last", result: {} });
  expect(tree.exchanges).toEqual([]);
});

test("batches come back as batches, in their revision", async () => {
  const { send, next } = open();
  send(initializeBody("2025-03-26"));
  await next();
  send([request(1, "ping"), { jsonrpc: "2.0", method: "notifications/initialized" }, tool(2, "echo")]);
  expect(await next()).toHaveLength(2);
  send([request(1, "ping"), request(1, "ping")]);
  expect(await next()).toMatchObject({ error: { code: -32600 } });
});

test("closing cancels what is under way", async () => {
  const { tree, endpoint, send, next } = open();
  send(initializeBody());
  await next();
  send(tool(1, "slow"));
  await until(() => expect(tree.exchanges).toHaveLength(1));
  endpoint.close();
  await endpoint.closed;
  expect(tree.exchanges[0]?.signal.aborted).toBe(true);
  expect(tree.left).toHaveLength(1);
});
