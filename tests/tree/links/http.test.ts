// What is special over streamable HTTP: headers, sessions, streams that break, credentials, and who is trusted.
import { once } from "node:events";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Link } from "@mcpx/aggregator";
import { isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { openTo, requestOf } from "./support/open.ts";
import { events, json, type RawRequest, rawHttp } from "./support/raw-http.ts";
import { selfSignedPair } from "./support/self-signed.ts";

async function fault(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    (value) => `answered ${JSON.stringify(value)}`,
    (error: unknown) => (isMcpxError(error) ? `${error.code} ${error.detail}` : String(error)),
  );
}

const capabilities = { tools: { listChanged: true }, resources: { subscribe: true } };

/** A modern server; all but its introduction is the test's. */
function modern(answer: (raw: RawRequest) => void) {
  return rawHttp((raw) => {
    const { message, response } = raw;
    if (message?.method === "server/discover") {
      const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities };
      json(response, { jsonrpc: "2.0", id: message.id, result });
    } else if (message?.method === "subscriptions/listen") {
      const _meta = { "io.modelcontextprotocol/subscriptionId": message.id };
      const params = { _meta, notifications: message.params.notifications };
      const method = "notifications/subscriptions/acknowledged";
      events(response, [JSON.stringify({ jsonrpc: "2.0", method, params })]);
    } else answer(raw);
  });
}

/** A legacy one with a session; GET is 405 unless the test answers it. */
function legacy(answer: (raw: RawRequest) => void, get?: (raw: RawRequest) => void) {
  return rawHttp((raw) => {
    const { message, request, response } = raw;
    if (request.method === "GET") get ? get(raw) : response.writeHead(405).end();
    else if (request.method === "DELETE") response.writeHead(200).end();
    else if (message.method === "server/discover") response.writeHead(400).end();
    else if (message.method === "initialize") {
      response.setHeader("mcp-session-id", "s-1");
      const result = { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "old" } };
      json(response, { jsonrpc: "2.0", id: message.id, result });
    } else if (message.id === undefined || message.method === undefined) response.writeHead(202).end();
    else answer(raw);
  });
}

const answerTo = ({ message }: RawRequest, result: JsonObject = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id: message.id, result });

test("modern: what the headers say is what the body says, in base64 where a header cannot hold it", async () => {
  const server = await modern((raw) => json(raw.response, answerTo(raw)));
  const { ask } = await openTo({ type: "http", url: server.url, headers: { "X-Key": "k", Host: "other" } });
  await ask("tools/call", { name: "über" }, { paramHeaders: { "mcp-param-region": "eu", cookie: "x" } });
  await ask("resources/read", { uri: "a://b" });
  await ask("tools/list");
  const headers = server.requests.map(({ request }) => request.headers).slice(-3);
  expect(headers[0]).toMatchObject({
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "=?base64?w7xiZXI=?=",
    "mcp-param-region": "eu",
    "x-key": "k",
    accept: "application/json, text/event-stream",
    host: new URL(server.url).host,
  });
  expect(headers[0]).not.toHaveProperty("cookie");
  expect(headers[1]).toMatchObject({ "mcp-method": "resources/read", "mcp-name": "a://b" });
  expect(headers[2]).not.toHaveProperty("mcp-name");
});

test("modern: a call and its neighbour share a connection, one after the other", async () => {
  const server = await modern((raw) => json(raw.response, answerTo(raw)));
  const { ask } = await openTo({ type: "http", url: server.url });
  for (let n = 0; n < 20; n += 1) await ask("tools/call", { name: "x" });
  // One for the subscription; the calls may take turns on two, since each rests for a moment after an answer.
  expect(server.sockets.size).toBeLessThanOrEqual(3);
});

test("modern: closing the stream is the cancellation", async () => {
  let isClosed = false;
  const server = await modern(({ response }) => {
    events(response, ['{"jsonrpc":"2.0","method":"notifications/message","params":{"data":1}}']);
    response.on("close", () => {
      isClosed = true;
    });
  });
  const { ask } = await openTo({ type: "http", url: server.url });
  const stop = new AbortController();
  const reason = new McpxError("timeout");
  const notify = () => stop.abort(reason);
  await expect(ask("tools/call", { name: "x" }, { signal: stop.signal, notify })).rejects.toBe(reason);
  await expect.poll(() => isClosed).toBe(true);
  expect(server.requests.map(({ message }) => message.method)).not.toContain("notifications/cancelled");
});

test("modern: a subscription that breaks is opened again, and what may have been missed counts as changed", async () => {
  const server = await modern(() => {});
  const { notifications } = await openTo({ type: "http", url: server.url });
  expect(notifications).toEqual([]);
  server.requests.at(-1)?.response.destroy();
  await expect.poll(() => notifications).toEqual([["notifications/tools/list_changed", {}]]);
});

test("modern: errors come with their status and are the server's own", async () => {
  const server = await modern(({ message, response }) =>
    json(response, { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "no such" } }, 404),
  );
  const { ask } = await openTo({ type: "http", url: server.url });
  await expect(ask("odd/method")).rejects.toMatchObject({ fault: { code: -32601, message: "no such" } });
});

test.each([
  [
    "nothing",
    (raw: RawRequest) => raw.response.writeHead(202).end(),
    "bad_server_answer near: its answer is missing",
  ],
  ["no JSON", (raw: RawRequest) => json(raw.response, "{"), "bad_server_answer near: its answer is not JSON"],
  ["a page", (raw: RawRequest) => raw.response.end("<p>"), "bad_server_answer near: its answer is missing"],
  ["half of it", halfAnAnswer, "server_lost near: its answer broke off"],
  [
    "a closed endpoint",
    (raw: RawRequest) => raw.request.socket.destroy(),
    "server_lost near: the connection broke before it answered (ECONNRESET)",
  ],
  ["a stream without it", emptyStream, "server_lost near: its stream ended before the answer"],
  [
    "a redirect",
    (raw: RawRequest) => raw.response.writeHead(302, { location: "/" }).end(),
    "server_unreachable near: it answered 302: redirects are not followed",
  ],
  [
    "too much",
    (raw: RawRequest) => json(raw.response, answerTo(raw, { text: "x".repeat(9_000) })),
    "bad_server_answer near: its answer has more than 5000 bytes",
  ],
])("modern: an answer of %s is one clear error", async (_, answer, expected) => {
  const server = await modern(answer);
  const { ask } = await openTo({ type: "http", url: server.url }, { limits: { messageBytesMax: 5_000 } });
  expect(await fault(ask("tools/call", { name: "x" }))).toBe(expected);
});

function halfAnAnswer({ response }: RawRequest): void {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write("{", () => response.destroy());
}

function emptyStream({ response }: RawRequest): void {
  events(response, []);
  response.end();
}

test("legacy: the session and the revision go with everything, and it is ended in the end", async () => {
  const server = await legacy((raw) => json(raw.response, answerTo(raw)));
  const { link, ask } = await openTo({ type: "http", url: server.url });
  await ask("tools/list");
  await expect.poll(() => server.requests.map(({ request }) => request.method)).toContain("GET");
  await link.close();
  const seen = server.requests
    .slice(2)
    .map(({ request, message }) => [
      message?.method ?? request.method,
      request.headers["mcp-session-id"],
      request.headers["mcp-protocol-version"],
    ]);
  const kinds = seen.map(([kind]) => kind);
  expect(kinds).toContain("notifications/initialized");
  expect(kinds.at(-1)).toBe("DELETE");
  for (const [, session, revision] of seen) expect([session, revision]).toEqual(["s-1", "2025-11-25"]);
});

test.each([
  ["404", 404, { code: -32001, message: "Session not found" }],
  ["400, as some do", 400, { code: -32000, message: "Bad Request: No valid session ID provided" }],
])(
  "legacy: a session that is over (%s) ends the link; what was asked was not done",
  async (_, status, error) => {
    const server = await legacy(({ response }) =>
      json(response, { jsonrpc: "2.0", id: null, error }, status),
    );
    const { link, ask } = await openTo({ type: "http", url: server.url });
    expect(await fault(ask("tools/call", { name: "x" }))).toBe(
      "server_unreachable near: its session has ended",
    );
    expect(await link.ended).toBe("its session has ended");
  },
);

test("legacy: what is said unasked comes over its own stream, which is opened again where it broke", async () => {
  const ids: unknown[] = [];
  const server = await legacy(
    () => {},
    ({ request, response }) => {
      ids.push(request.headers["last-event-id"]);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const text = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
      response.write(`id: e${ids.length}\nretry: 100\ndata: ${text}\n\n`);
      if (ids.length === 1) setTimeout(() => response.destroy(), 50);
    },
  );
  const { notifications } = await openTo({ type: "http", url: server.url });
  await expect.poll(() => notifications).toHaveLength(2);
  expect(ids).toEqual([undefined, "e1"]);
});

test("[B-TREE-2] legacy: a call waits for the stream on which its server may ask; lists do not", async () => {
  let listening: RawRequest["response"] | undefined;
  const server = await legacy(
    (raw) => json(raw.response, answerTo(raw)),
    ({ response }) => {
      listening = response;
    },
  );
  const { ask } = await openTo({ type: "http", url: server.url });
  const called = () => server.requests.some(({ message }) => message?.method === "tools/call");
  const call = ask("tools/call", { name: "x" });
  await expect.poll(() => listening).toBeDefined();
  await ask("tools/list");
  expect(called()).toBe(false);
  if (listening !== undefined) events(listening, []);
  listening?.flushHeaders();
  await call;
  // The next one finds it there.
  await ask("tools/call", { name: "y" });
});

test("legacy: an answer is fetched from where its stream ended, after the time the server wants", async () => {
  let endedAt = 0;
  let cameAt = 0;
  let asked: RawRequest | undefined;
  const server = await legacy(
    (raw) => {
      asked = raw;
      raw.response.writeHead(200, { "content-type": "text/event-stream" });
      raw.response.write("id: a-1\nretry: 300\ndata: \n\n");
      raw.response.end();
      endedAt = performance.now();
    },
    ({ request, response }) => {
      if (request.headers["last-event-id"] !== "a-1" || asked === undefined) {
        response.writeHead(405).end();
        return;
      }
      cameAt = performance.now();
      // It stays open, as some do.
      events(response, [answerTo(asked, { done: true })]);
    },
  );
  const { ask } = await openTo({ type: "http", url: server.url });
  expect(await ask("tools/call", { name: "x" })).toEqual({ done: true });
  expect(cameAt - endedAt).toBeGreaterThan(290);
});

test("legacy: a question on a request's stream is its caller's, and the answer is posted", async () => {
  const server = await legacy((raw) => {
    if (raw.message.params.name === "other") return;
    events(raw.response, ['{"jsonrpc":"2.0","id":9,"method":"roots/list"}']);
    const look = setInterval(() => {
      const answer = server.requests.find(({ message }) => message?.id === 9);
      if (answer === undefined) return;
      clearInterval(look);
      raw.response.end(`data: ${answerTo(raw, answer.message.result)}\n\n`);
    }, 10);
  });
  const { link, questions } = await openTo({ type: "http", url: server.url });
  const stop = new AbortController();
  // Older, but not the one that is asked.
  const other = link.request({ ...requestOf("tools/call", { name: "other" }), signal: stop.signal });
  const result = await link.request({
    ...requestOf("tools/call", { name: "x" }),
    ask: async () => ({ "9": { roots: [{ uri: "file:///x" }] } }),
  });
  expect(result).toEqual({ roots: [{ uri: "file:///x" }] });
  expect(questions).toEqual([]);
  stop.abort(new McpxError("timeout"));
  await expect(other).rejects.toThrow();
});

test("credentials go with every request; refused, they are renewed once", async () => {
  let token = "old";
  const refusals: unknown[] = [];
  const server = await modern((raw) => {
    if (raw.request.headers.authorization === "Bearer new") json(raw.response, answerTo(raw));
    else raw.response.writeHead(401, { "www-authenticate": "Bearer realm=x" }).end();
  });
  const credentials = {
    headers: async () => ({ authorization: `Bearer ${token}` }),
    refused: async (status: number, wanted: string | undefined) => {
      refusals.push([status, wanted]);
      token = refusals.length === 1 ? "new" : "worse";
      return true;
    },
  };
  const { ask } = await openTo({ type: "http", url: server.url, credentials });
  await ask("tools/list");
  expect(refusals).toEqual([[401, "Bearer realm=x"]]);
  token = "old";
  expect(await fault(ask("tools/list"))).toBe("server_unauthorised near: it answered 401");
  expect(refusals).toHaveLength(2);
});

test("a certificate nobody vouches for is refused", async () => {
  const server = createTlsServer(selfSignedPair(), (_, response) => response.end("secret"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  expect(await fault(openTo({ type: "http", url }) as Promise<{ link: Link }>)).toBe(
    "server_unreachable near: it cannot be reached (DEPTH_ZERO_SELF_SIGNED_CERT)",
  );
});

test("sse: messages are posted to nobody but the server itself", async () => {
  const server = await rawHttp(({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: endpoint\ndata: http://127.0.0.2:1/steal\n\n");
  });
  expect(await fault(openTo({ type: "sse", url: server.url }))).toBe(
    "bad_server_answer near: it wants messages posted to another origin",
  );
});
