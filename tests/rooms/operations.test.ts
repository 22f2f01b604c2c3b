// What machines that watch over the gateway ask for.
import { afterAll, beforeAll, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { Seen } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

test("[X0-5.1-3] /healthz and /readyz are open and say nothing more", async () => {
  expect(await server.call("GET", "/healthz")).toEqual({ status: 200, body: { status: "ok" } });
  expect(await server.call("GET", "/readyz")).toEqual({ status: 200, body: { status: "ready" } });
});

test("[X0-5.1-3] /metrics is for this machine, and for admins from elsewhere", async () => {
  const client = await enter(server, "alice", { topic: "room:metrics" });
  await client.ack(client.say("count me"));
  const metrics = (headers: Record<string, string>) => fetch(`${server.url}/metrics`, { headers });
  const local = await metrics({});
  expect(local.status).toBe(200);
  expect(local.headers.get("content-type")).toMatch(/^text\/plain/);
  const text = await local.text();
  expect(text).toMatch(/envelopes_received_total\{kind="chat"\} 1/);
  expect(text).not.toContain("alice");
  for (const name of ["x-forwarded-for", "forwarded", "via", "x-real-ip", "x-forwarded-proto"]) {
    expect((await metrics({ [name]: "10.0.0.1" })).status, name).toBe(401);
  }
  const forwarded = async (token: string) =>
    (await metrics({ "x-forwarded-for": "10.0.0.1", authorization: `Bearer ${token}` })).status;
  expect(await forwarded(await server.token({ sub: "alice", topics: ["**"], level: "full" }))).toBe(403);
  expect(await forwarded(await server.adminToken())).toBe(200);
  await client.leave();
});

test("the public keys are open to everybody, and public only", async () => {
  const { status, body } = await server.call("GET", "/.well-known/jwks.json");
  expect(status).toBe(200);
  expect(body.keys).toHaveLength(1);
  expect(Object.keys(body.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
});

test("[X0-5.3-2] the presence list shows each participant once, as presence did", async () => {
  const topic = "room:list";
  const token = await server.token({ sub: "reader", topics: [topic] });
  const list = async () =>
    (await server.call("GET", `/v0/topics/${topic}/participants`, token)).body.participants;
  const human = await enter(server, "ann", { topic, name: "Ann", kind: "human" });
  expect(await list()).toEqual([{ id: "ann", name: "Ann", kind: "human", privilege: "full" }]);
  const robot = await enter(server, "rob", {
    topic,
    kind: "robot",
    level: "restricted",
    query: { mcp: "2025-06-18" },
  });
  const status = { type: "presence_status", status: "busy", text: "welding" };
  await robot.ack(robot.send({ kind: "system", payload: status }));
  expect(await list()).toContainEqual({
    id: "rob",
    kind: "robot",
    mcp: { version: "2025-06-18" },
    privilege: "restricted",
    status: { status: "busy", text: "welding" },
  });
  await human.leave();
  await robot.event("leave");
  expect((await list()).map(({ id }: Seen) => id)).toEqual(["rob"]);
  await robot.leave();
});

test("[X0-5.3-1] the list of topics counts participants and envelopes", async () => {
  const topic = "room:counted";
  const clients = await Promise.all(["a", "b"].map((id) => enter(server, id, { topic })));
  for (const client of clients) await client.ack(client.say("hi"));
  const { body } = await server.call(
    "GET",
    "/v0/topics",
    await server.token({ sub: "reader", topics: [topic] }),
  );
  expect(body).toEqual({ topics: [{ name: topic, participants: 2, seq: 2 }] });
});

test("[X1-10.1-1] admins see every connection with its state", async () => {
  const topic = "room:state";
  const before = Date.now();
  const client = await enter(server, "carol", { topic, level: "responder", query: { protocol: "mcp-x/v0" } });
  const { body } = await server.call("GET", "/admin/connections", await server.adminToken());
  const mine = body.connections.find(({ participantId }: Seen) => participantId === "carol");
  expect(mine).toEqual({
    connectionId: client.welcome.payload.connection_id,
    participantId: "carol",
    topic,
    privilege: "responder",
    protocol: "mcp-x/v0",
    connectedAt: expect.any(String),
    tokenExpiresAt: expect.any(String),
    seq: 0,
    queuedBytes: 0,
  });
  expect(Date.parse(mine.connectedAt)).toBeGreaterThanOrEqual(before - 1);
  expect(Date.parse(mine.tokenExpiresAt)).toBeGreaterThan(before + 500_000);
});

test("everything under /admin needs an admin's token", async () => {
  const plain = await server.token({ sub: "plain", topics: ["**"], level: "full" });
  for (const path of ["connections", "audit", "tokens"]) {
    const address = `/admin/${path}`;
    expect((await server.call("GET", address)).status).toBe(401);
    const { status, body } = await server.call("GET", address, plain);
    expect(`${status} ${body.error.reason}`).toBe("403 admin_only");
    expect((await server.call("GET", address, await server.adminToken())).status).toBe(200);
  }
  expect((await server.call("GET", "/admin/nothing", await server.adminToken())).status).toBe(404);
});

test("admins see which tokens were issued, and never a token", async () => {
  const token = await server.token({
    sub: "dave",
    topics: ["room:x"],
    level: "restricted",
    tools: ["lamp.*"],
  });
  const { body } = await server.call("GET", "/admin/tokens?limit=500", await server.adminToken());
  const { jti } = JSON.parse(atob(token.split(".")[1] ?? ""));
  expect(body.tokens.find((one: Seen) => one.jti === jti)).toMatchObject({
    sub: "dave",
    claims: { topics: ["room:x"], level: "restricted", tools: ["lamp.*"] },
    issuedAt: expect.any(String),
    expiresAt: expect.any(String),
    revokedAt: null,
  });
  expect(JSON.stringify(body)).not.toContain(token.split(".")[2]);
});

test("errors over REST have one shape, and nothing is cached", async () => {
  for (const path of ["/v0/topics", "/nowhere", "/v0/topics/%zz/history"]) {
    const response = await fetch(`${server.url}${path}`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const { error } = (await response.json()) as Seen;
    expect(error).toMatchObject({
      code: expect.any(Number),
      reason: expect.any(String),
      message: expect.any(String),
    });
  }
});
