import { connect } from "node:net";
import { expect, test } from "vitest";
import {
  accept,
  call,
  json,
  modernMeta,
  openEndpoint,
  openSession,
  post,
  request,
  tool,
} from "./open-endpoint.ts";

const codeOf = async (response: Response) => {
  const { error, id } = await json(response);
  return [response.status, (error as { code: number }).code, id];
};

test.each([
  ["nothing", "", 400, -32700],
  ["words", "hello", 400, -32700],
  ["half", '{"jsonrpc":"2.0"', 400, -32700],
  ["two", "{}{}", 400, -32700],
  ["a number", "7", 400, -32600],
  ["a long number", "1e400", 400, -32600],
  ["null", "null", 400, -32600],
  ["an empty object", "{}", 400, -32600],
  ["another version", '{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
  ["no method", '{"jsonrpc":"2.0","id":1}', 400, -32600],
  ["an empty method", '{"jsonrpc":"2.0","id":1,"method":""}', 400, -32600],
  ["a method that is none", '{"jsonrpc":"2.0","id":1,"method":{}}', 400, -32600],
  ["params that are a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', 400, -32600],
  ["params that are a number", '{"jsonrpc":"2.0","id":1,"method":"ping","params":1.0}', 400, -32600],
  ["meta that is a list", '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":[]}}', 400, -32602],
  ["an id that is null", '{"jsonrpc":"2.0","id":null,"method":"ping"}', 400, -32600],
  ["an id that is a fraction", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}', 400, -32600],
  ["an id beyond numbers", '{"jsonrpc":"2.0","id":1e400,"method":"ping"}', 400, -32600],
  ["an id that is an object", '{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
  ["an id that is true", '{"jsonrpc":"2.0","id":true,"method":"ping"}', 400, -32600],
  ["an endless id", `{"jsonrpc":"2.0","id":"${"x".repeat(300)}","method":"ping"}`, 400, -32600],
  ["request and result", '{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}', 400, -32600],
  ["result and error", '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', 400, -32600],
  ["a result that is none", '{"jsonrpc":"2.0","id":1,"result":7}', 400, -32600],
  ["an error that is none", '{"jsonrpc":"2.0","id":1,"error":"no"}', 400, -32600],
  ["a list without a session", "[]", 400, 40016],
  ["a list that is modern", JSON.stringify([request(1, "tools/list", { _meta: modernMeta })]), 400, 40016],
  ["an answer without a session", '{"jsonrpc":"2.0","id":1,"result":{}}', 400, 40016],
  [
    "deep lists",
    `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`,
    400,
    40004,
  ],
  ["an abyss", `{"a":${"[".repeat(1_000_000)}${"]".repeat(1_000_000)}}`, 400, undefined],
  ["an abyss of numbers", `{"a":${"[1.0,".repeat(300_000)}1${"]".repeat(300_000)}}`, 400, undefined],
])("%s is refused", async (_what, body, status, code) => {
  const endpoint = await openEndpoint();
  const [gotStatus, gotCode] = await codeOf(await post(endpoint, body));
  expect(gotStatus).toBe(status);
  if (code !== undefined) expect(gotCode).toBe(code);
  expect(endpoint.tree.exchanges).toEqual([]);
  expect(endpoint.logged).toEqual([]);
});

test("wrong types and wishes are refused", async () => {
  const endpoint = await openEndpoint();
  const body = request(1, "tools/list");
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonx", ""]) {
    expect((await post(endpoint, body, { "content-type": type })).status).toBe(415);
  }
  for (const wish of ["text/html", "application/json", "text/event-stream"]) {
    expect((await post(endpoint, body, { accept: wish })).status).toBe(406);
  }
  expect((await call(endpoint, "tools/list", {}, { headers: { accept: "*/*" } })).status).toBe(200);
  const { headers } = await openSession(endpoint);
  const plain = { ...headers, authorization: `Bearer ${endpoint.token}`, accept: "application/json" };
  expect((await fetch(endpoint.url, { headers: plain })).status).toBe(406);
});

test("a body may be large, and not larger", async () => {
  const endpoint = await openEndpoint({ limits: { mcpBodyBytesMax: 300_000 } });
  const big = (count: number) =>
    call(endpoint, "tools/call", { name: "echo", arguments: { a: "x".repeat(count) } });
  expect((await big(290_000)).status).toBe(200);
  const refused = await big(300_000);
  expect([refused.status, (await json(refused)).error]).toMatchObject([
    413,
    { data: { reason: "too_large" } },
  ]);
});

test("bad UTF-8 is refused", async () => {
  const endpoint = await openEndpoint();
  const headers = { authorization: `Bearer ${endpoint.token}`, accept, "content-type": "application/json" };
  const body = new Uint8Array([0x22, 0xff, 0x22]);
  expect((await fetch(endpoint.url, { method: "POST", headers, body })).status).toBe(400);
});

test("two session headers are refused", async () => {
  const endpoint = await openEndpoint();
  const { id } = await openSession(endpoint);
  const body = JSON.stringify(request(1, "ping"));
  const socket = connect(endpoint.port, "127.0.0.1");
  const answer = new Promise<string>((resolve) => {
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
    });
    socket.on("close", () => resolve(text));
  });
  socket.write(
    [
      "POST /mcp HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${endpoint.token}`,
      `Accept: ${accept}`,
      "Content-Type: application/json",
      `Mcp-Session-Id: ${id}`,
      `Mcp-Session-Id: ${id}`,
      `Content-Length: ${body.length}`,
      "Connection: close",
      "",
      body,
    ].join("\r\n"),
  );
  expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
});

test("members named like JavaScript's own do no harm", async () => {
  const endpoint = await openEndpoint();
  const meta = JSON.stringify(modernMeta).slice(1);
  const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{"__proto__":{"a":1}},"_meta":{"__proto__":{"polluted":1},${meta}}}`;
  const mcp = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "__proto__" };
  expect(await codeOf(await post(endpoint, body, mcp))).toEqual([200, -32601, 1]);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  expect(JSON.stringify(endpoint.tree.exchanges[0]?.params)).toBe(
    '{"name":"__proto__","arguments":{"__proto__":{"a":1}},"_meta":{"__proto__":{"polluted":1}}}',
  );
});

test("a client's routes are removed in sessions too", async () => {
  const endpoint = await openEndpoint();
  const { send } = await openSession(endpoint);
  await send(tool(1, "echo", { _meta: { "x-mcpax-route": ["a"], "x-mcpax-capability": {}, other: 1 } }));
  expect(endpoint.tree.exchanges[0]?.params).toEqual({ name: "echo", arguments: {}, _meta: { other: 1 } });
});
