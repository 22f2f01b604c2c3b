import { expect, test } from "vitest";
import {
  call,
  contentOf,
  events,
  json,
  modernMeta,
  openEndpoint,
  post,
  request,
  until,
} from "./open-endpoint.ts";

const caps = "io.modelcontextprotocol/clientCapabilities";
const fault = async (response: Response) => {
  const { error, id } = await json(response);
  return { status: response.status, code: (error as { code: number }).code, id, error };
};

test("server/discover says who we are, and what we speak", async () => {
  const endpoint = await openEndpoint();
  const response = await call(endpoint, "server/discover");
  expect(response.status).toBe(200);
  expect(await json(response)).toEqual({
    jsonrpc: "2.0",
    id: 1,
    result: {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: expect.objectContaining({ tools: { listChanged: true } }),
      instructions: "Do as you are told.",
      ttlMs: expect.any(Number),
      cacheScope: "private",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } },
    },
  });
});

test("a result that nothing came before is JSON; the tree sees neither the hop's keys nor a client's route", async () => {
  const endpoint = await openEndpoint();
  const meta = {
    progressToken: "p",
    "io.modelcontextprotocol/clientInfo": { name: "test" },
    "x-mcpax-route": ["evil"],
    "X-Mcpax-Cursor": 3,
    traceparent: "00-1",
  };
  const params = { name: "echo", arguments: { a: [1, "ü"] } };
  const response = await call(endpoint, "tools/call", params, {
    meta,
    headers: { "mcp-param-city": "Bern" },
  });
  const message = await json(response);
  expect(JSON.parse(contentOf(message))).toEqual({ ...params, _meta: { traceparent: "00-1" } });
  expect(endpoint.tree.exchanges[0]).toMatchObject({
    wantsProgress: true,
    paramHeaders: { "mcp-param-city": "Bern" },
  });
  expect(endpoint.tree.exchanges[0]?.caller).toMatchObject({
    era: "modern",
    logLevel: undefined,
    dialect: "safe",
  });
});

test("what comes before the result makes it a stream: progress by the token, messages by the level", async () => {
  const endpoint = await openEndpoint();
  const meta = { progressToken: 7, "io.modelcontextprotocol/logLevel": "info" };
  const messages = await events(await call(endpoint, "tools/call", { name: "notifies" }, { meta })).rest();
  expect(messages.map(({ method, params, id }) => [method ?? id, params])).toEqual([
    ["notifications/progress", { progress: 1, total: 2, progressToken: 7 }],
    ["notifications/message", { level: "info", data: "half" }],
    ["notifications/progress", { progress: 2, total: 2, progressToken: 7 }],
    [1, undefined],
  ]);
  const silent = await json(await call(endpoint, "tools/call", { name: "notifies" }));
  expect(contentOf(silent)).toBe("done");
});

test.each([
  ["initialize", "initialize"],
  ["ping", "ping"],
  ["logging/setLevel", "logging/setLevel"],
  ["resources/subscribe", "resources/subscribe"],
  ["unknown/method", "unknown/method"],
])("%s is a 404 and -32601", async (_what, method) => {
  const endpoint = await openEndpoint();
  expect(await fault(await call(endpoint, method, {}, { id: "x" }))).toMatchObject({
    status: 404,
    code: -32601,
    id: "x",
  });
});

test("[AX-5.2-2] an unknown tool is -32601 and no fault of HTTP; what breaks gives nothing away", async () => {
  const endpoint = await openEndpoint();
  expect(await fault(await call(endpoint, "tools/call", { name: "nothing" }))).toMatchObject({
    status: 200,
    code: -32601,
  });
  const broken = await fault(await call(endpoint, "tools/call", { name: "throws" }));
  expect(broken).toMatchObject({ status: 200, error: { data: { reason: "internal" } } });
  expect(JSON.stringify(broken)).not.toContain("secret");
  expect(endpoint.logged.join("")).toContain("the secret of the house");
});

test("envelopes: what is missing or wrong is -32602 with 400", async () => {
  const endpoint = await openEndpoint();
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
  const version = "io.modelcontextprotocol/protocolVersion";
  for (const _meta of [
    undefined,
    {},
    { [caps]: {} },
    { [version]: "2026-07-28" },
    { [version]: "2026-07-28", [caps]: [] },
    { [version]: 7, [caps]: {} },
    { [version]: "2026-07-28", [caps]: {}, "io.modelcontextprotocol/logLevel": "loud" },
    { [version]: "2026-07-28", [caps]: {}, "io.modelcontextprotocol/clientInfo": "me" },
    { [version]: "2026-07-28", [caps]: {}, progressToken: {} },
    "text",
  ]) {
    const response = await post(endpoint, request(9, "tools/list", { _meta }), headers);
    expect(await fault(response), JSON.stringify(_meta)).toMatchObject({ status: 400, code: -32602, id: 9 });
  }
  expect(endpoint.tree.exchanges).toEqual([]);
});

test("versions nobody serves are -32022, with those we do", async () => {
  const endpoint = await openEndpoint();
  const meta = { "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
  const response = await call(
    endpoint,
    "tools/list",
    {},
    { meta, headers: { "mcp-protocol-version": "2099-01-01" } },
  );
  expect(await fault(response)).toMatchObject({
    status: 400,
    code: -32022,
    error: { data: { supported: ["2026-07-28"], requested: "2099-01-01" } },
  });
});

test("headers that differ from the body are -32020 with 400", async () => {
  const endpoint = await openEndpoint();
  const name = "Grüezi";
  const good = `=?base64?${Buffer.from(name).toString("base64")}?=`;
  const as = (headers: Record<string, string>) => call(endpoint, "tools/call", { name }, { headers });
  for (const headers of [
    { "mcp-protocol-version": "2025-11-25" },
    { "mcp-method": "tools/list" },
    { "mcp-method": "TOOLS/CALL" },
    { "mcp-name": "other" },
    { "mcp-name": good.replace("=?=", "?=") },
    { "mcp-name": "=?base64?!!!?=" },
  ]) {
    const mcp = { "mcp-name": good, ...headers };
    expect(await fault(await as(mcp)), JSON.stringify(headers)).toMatchObject({
      status: 400,
      code: -32020,
      id: 1,
    });
  }
  expect((await fault(await as({ "mcp-name": ` ${good} ` }))).code).toBe(-32601);
  const bare = request(1, "tools/list", { _meta: modernMeta });
  expect(await fault(await post(endpoint, bare))).toMatchObject({ status: 400, code: -32020 });
});

test("GET, DELETE and HEAD are not of this era; notifications are taken", async () => {
  const endpoint = await openEndpoint();
  const headers = { authorization: `Bearer ${endpoint.token}`, "mcp-protocol-version": "2026-07-28" };
  for (const method of ["GET", "DELETE", "HEAD"]) {
    const response = await fetch(endpoint.url, { method, headers });
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  }
  const notification = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
  const taken = await post(endpoint, notification, { "mcp-protocol-version": "2026-07-28" });
  expect([taken.status, await taken.text()]).toEqual([202, ""]);
});

test("a client that leaves has cancelled, before or after the first event", async () => {
  const endpoint = await openEndpoint();
  for (const [i, name] of ["slow", "speaks"].entries()) {
    const leaving = new AbortController();
    const meta = { "io.modelcontextprotocol/logLevel": "debug" };
    const answer = call(endpoint, "tools/call", { name }, { meta, init: { signal: leaving.signal } });
    answer.catch(() => {});
    await until(() => expect(endpoint.tree.exchanges).toHaveLength(i + 1));
    leaving.abort();
    await until(() => expect(endpoint.tree.exchanges[i]?.signal.aborted).toBe(true));
  }
});

test("ids are echoed exactly", async () => {
  const endpoint = await openEndpoint();
  for (const id of ["9007199254740993", '"ü\\u0000"', "-0", '""', "0"]) {
    const body = JSON.stringify(request("ID", "tools/list", { _meta: modernMeta }));
    const response = await post(endpoint, body.replace('"ID"', id), {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/list",
    });
    expect(await response.text()).toContain(`"id":${id}`);
  }
});

test("a busy principal is told to wait, and may go on after", async () => {
  const endpoint = await openEndpoint({ limits: { mcpRequestsPerPrincipalMax: 2 } });
  const slow = [
    call(endpoint, "tools/call", { name: "slow" }),
    call(endpoint, "tools/call", { name: "slow" }),
  ];
  await until(() => expect(endpoint.tree.exchanges).toHaveLength(2));
  expect(await fault(await call(endpoint, "tools/list"))).toMatchObject({
    error: { data: { reason: "rate_limited" } },
  });
  const bob = (await endpoint.mint("bob")).token;
  expect((await json(await call({ ...endpoint, token: bob }, "tools/list"))).result).toBeDefined();
  endpoint.tree.release();
  await Promise.all(slow);
  expect((await json(await call(endpoint, "tools/list"))).result).toBeDefined();
});
