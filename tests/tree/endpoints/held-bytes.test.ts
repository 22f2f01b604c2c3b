// What one principal may have kept for it, whichever way: the bound is of memory, not of how many things there are. Each
// attack has an honest neighbour beside it, and the same thing in a smaller size that passes.
import { once } from "node:events";
import { connect } from "node:net";
import { createByteLedger } from "@mcpx/host";
import { defaultLimits, type JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import {
  accept,
  call,
  contentOf,
  events,
  initializeBody,
  json,
  modernMeta,
  type OpenEndpoint,
  openEndpoint,
  openSession,
  post,
  tool,
  until,
} from "./open-endpoint.ts";

const mebi = 1_048_576;

async function openCounted(perPrincipal = 4 * mebi) {
  // Of many values, so that memory and not their number is what ends.
  const limits = {
    heldBytesPerPrincipalMax: perPrincipal,
    heldBytesMax: 8 * perPrincipal,
    valuesMax: 1_000_000,
  };
  const ledger = createByteLedger({ ...defaultLimits, ...limits });
  const endpoint = await openEndpoint({ limits, endpoint: { ledger } });
  const bob = { ...endpoint, token: (await endpoint.mint("bob")).token };
  const isServed = async () => {
    const answer = await json(await call(bob, "tools/call", { name: "echo", arguments: { a: 1 } }));
    expect(contentOf(answer)).toContain('"a":1');
    const slow = await openSession(bob);
    const pong = await json(await slow.send({ jsonrpc: "2.0", id: 5, method: "ping" }));
    expect(pong).toMatchObject({ id: 5, result: {} });
  };
  return { endpoint, ledger, bob, isServed };
}

const reasonOf = async (response: Response) => {
  const { error } = (await json(response)) as { error?: { data?: JsonObject } };
  return error?.data?.reason;
};

/** Of 3 characters and at least 64 bytes each. */
const empties = (bytes: number) => ({ list: Array.from({ length: bytes / 64 }, () => ({})) });

test("calls that wait count by what their arguments take in memory: small objects many times their text", async () => {
  const { endpoint, ledger, isServed } = await openCounted();
  await isServed();
  const controller = new AbortController();
  const start = (args: JsonObject) =>
    call(endpoint, "tools/call", { name: "slow", arguments: args }, { init: { signal: controller.signal } });
  // 96 KiB of text, 2 MiB of memory and more.
  const waiting = [start(empties(2 * mebi))];
  await until(() => expect(endpoint.tree.exchanges.length).toBe(2));
  const refused = await start(empties(2 * mebi));
  expect(await reasonOf(refused)).toBe("rate_limited");
  await isServed();
  // The same below the bound: one long text is what it is long.
  waiting.push(start({ text: "x".repeat(mebi) }));
  await until(() => expect(endpoint.tree.exchanges.length).toBe(4));
  endpoint.tree.release();
  for (const one of waiting) expect(contentOf(await json(await one))).toBe("released");
  await until(() => expect(ledger.heldBytes).toBeLessThan(10_000));
  const again = start(empties(2 * mebi));
  await until(() => expect(endpoint.tree.exchanges.length).toBe(5));
  controller.abort();
  await expect(again).rejects.toThrow();
  await until(() => expect(ledger.heldBytes).toBeLessThan(10_000));
  await isServed();
});

test("the same in legacy sessions, however many there are: they are one principal's", async () => {
  const { endpoint, ledger, isServed } = await openCounted();
  const sessions = await Promise.all([1, 2, 3].map(() => openSession(endpoint)));
  const calls = sessions.map(({ send }) => send(tool(1, "slow", { arguments: empties(2 * mebi) })));
  const reasons: unknown[] = [];
  for (const one of calls) void one.then(reasonOf).then((reason) => reasons.push(reason));
  // One of three is held; the others are refused while it waits.
  await until(() => expect(reasons).toEqual(["rate_limited", "rate_limited"]));
  await isServed();
  endpoint.tree.release();
  await until(() => expect(reasons).toHaveLength(3));
  await until(() => expect(ledger.heldBytes).toBeLessThan(100_000));
});

test("what a client says of itself is kept with its session, and counts", async () => {
  const { endpoint, ledger, isServed } = await openCounted();
  const greet = () => post(endpoint, initializeBody("2025-11-25", { experimental: empties(2 * mebi) }));
  const first = await greet();
  expect(first.status).toBe(200);
  const second = await greet();
  expect([second.status, second.headers.get("retry-after")]).toEqual([429, "1"]);
  await isServed();
  const headers = { "mcp-session-id": first.headers.get("mcp-session-id") ?? "" };
  const before = ledger.heldBytes;
  await fetch(endpoint.url, {
    method: "DELETE",
    headers: { authorization: `Bearer ${endpoint.token}`, ...headers },
  });
  expect(ledger.heldBytes).toBeLessThan(before - 2 * mebi);
  expect((await greet()).status).toBe(200);
});

test("subscriptions count, of both eras, until they end", async () => {
  const { endpoint, ledger, isServed } = await openCounted();
  const uris = (from: number) =>
    Array.from({ length: 100 }, (_, i) => `test://${from + i}/${"x".repeat(8_000)}`);
  const listen = (from: number) =>
    call(endpoint, "subscriptions/listen", { notifications: { resourceSubscriptions: uris(from) } });
  const streams = [events(await listen(0)), events(await listen(100))];
  for (const stream of streams) await stream.message();
  expect(await reasonOf(await listen(200))).toBe("rate_limited");
  await isServed();
  const { send, headers } = await openSession(endpoint);
  const subscribe = async (uri: string) =>
    reasonOf(await send({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri } }));
  const outcomes = [];
  for (const uri of uris(300)) outcomes.push(await subscribe(uri));
  expect(new Set(outcomes)).toEqual(new Set([undefined, "rate_limited"]));
  for (const stream of streams) await stream.cancel();
  await until(() => expect(endpoint.tree.subscriptions.size).toBeLessThan(100));
  await until(async () => expect(await subscribe(uris(300)[99] as string)).toBeUndefined());
  await isServed();
  await fetch(endpoint.url, {
    method: "DELETE",
    headers: { authorization: `Bearer ${endpoint.token}`, ...headers },
  });
  await until(() => expect(ledger.heldBytes).toBeLessThan(10_000));
});

const rich = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } };

test("a parked call is held with its arguments, and its answer after it has ended; who comes back frees both", async () => {
  const { endpoint, ledger, isServed } = await openCounted();
  const big = empties(2 * mebi);
  const ask = (args: JsonObject, more: JsonObject = {}) =>
    call(endpoint, "tools/call", { name: "asks", arguments: args, ...more }, { meta: rich });
  const asked = (await json(await ask(big))).result as JsonObject;
  expect(asked.resultType).toBe("input_required");
  expect(ledger.heldBytes).toBeGreaterThan(2 * mebi);
  expect(await reasonOf(await ask(big))).toBe("rate_limited");
  await isServed();
  // Small answers: the retry brings the arguments again, and they have no room twice.
  const responses = { "question-1": { action: "accept", content: { answer: "me" } } };
  const retry = { inputResponses: responses, requestState: asked.requestState };
  expect(await reasonOf(await ask(big, retry))).toBe("rate_limited");
  const small = (await json(await ask({}))).result as JsonObject;
  const answer = await json(await ask({}, { inputResponses: responses, requestState: small.requestState }));
  expect(contentOf(answer)).toContain("me");
  await isServed();
});

/** A client that asks and reads nothing: what it is sent waits here, beyond what the system's buffers take. */
async function neverReads(
  { port, token }: Pick<OpenEndpoint, "port" | "token">,
  name: string,
  args: JsonObject,
) {
  const params = { name, arguments: args, _meta: modernMeta };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const socket = connect(port, "127.0.0.1").pause();
  await once(socket, "connect");
  socket.write(
    `POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\naccept: ${accept}\r\n` +
      `content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\n` +
      `mcp-name: ${name}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return socket;
}

test("answers that nobody reads count until they are read, or their reader is gone", async () => {
  const { endpoint, ledger, isServed } = await openCounted(32 * mebi);
  const large = (bytes: number) =>
    call(endpoint, "tools/call", { name: "large", arguments: { chars: bytes } }).then(json);
  await isServed();
  const sockets = [];
  for (const _ of [1, 2]) sockets.push(await neverReads(endpoint, "large", { chars: 12 * mebi }));
  await until(() => expect(ledger.heldBytes).toBeGreaterThan(24 * mebi));
  const { error } = (await large(12 * mebi)) as { error: JsonObject };
  expect(error).toMatchObject({ data: { reason: "rate_limited" } });
  expect(error.message).toContain("the request was carried out, but its answer cannot be kept");
  // What has room is given.
  expect(contentOf(await large(mebi))).toHaveLength(mebi);
  await isServed();
  for (const socket of sockets) socket.destroy();
  await until(() => expect(ledger.heldBytes).toBeLessThan(10_000));
  expect(contentOf(await large(12 * mebi))).toHaveLength(12 * mebi);
  await isServed();
});
