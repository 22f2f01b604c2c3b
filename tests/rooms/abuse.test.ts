// Who keeps making faults is closed; who comes when there is no room is told when to come again.
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { startTestIssuer } from "../support/test-issuer.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";

let server: TestServer;
const start = async (options: TestServerOptions = {}) => {
  server = await startTestServer(options);
};
afterEach(() => server.stop());

test("[X0-9-5] the hundredth fault within a minute closes with 4429, the ninety-ninth does not", async () => {
  await start();
  const peer = await enter(server, "peer");
  const client = await enter(server, "clumsy");
  const fault = () => client.outcome(client.send({ kind: "chat", payload: {} }));
  for (let i = 1; i < 100; i += 1) expect(await fault()).toBe("bad_chat");
  expect(await client.outcome(client.say("I can do it right"))).toBe("ack");
  expect(await fault()).toBe("bad_chat");
  expect(await client.closing()).toEqual({ code: 4429, reason: "too_many_faults" });
  expect((await peer.event("leave")).payload.reason).toBe("too_many_faults");
  // The count is the connection's: it may come back, better.
  const again = await enter(server, "clumsy");
  expect(await again.outcome(again.say("hello"))).toBe("ack");
  const { body } = await server.call("GET", "/admin/audit", await server.adminToken());
  expect(body.records).toContainEqual(
    expect.objectContaining({ action: "closed", reason: "too_many_faults", actor: "clumsy" }),
  );
});

test("[X0-9-5] every kind of fault counts, and what comes behind the last one is not read", async () => {
  await start({ limits: { faultsPerMinute: 6 } });
  const client = await enter(server, "creative", { level: "restricted" });
  client.ws.send("not json");
  client.ws.send(Buffer.from("binary"), { binary: true });
  client.ws.send("[]");
  client.send({ kind: "presence", payload: {} });
  client.send({ kind: "mcp", to: ["x"], payload: { jsonrpc: "2.0", id: 1, method: "m" } });
  client.say("hi", { from: "somebody-else" });
  client.say("too late", { id: "late" });
  expect((await client.closing()).code).toBe(4429);
  const reasons = client.inbox.map(({ payload }) => payload.reason ?? payload.error.data.reason);
  expect(reasons).toEqual([
    "bad_json",
    "not_text",
    "not_an_object",
    "kind_not_allowed",
    "privilege_violation",
    "wrong_from",
  ]);
  const { body } = await server.call(
    "GET",
    "/v0/topics/room:test/history",
    await server.token({ sub: "reader", topics: ["**"] }),
  );
  expect(body.envelopes).toEqual([]);
});

test("what waits behind a slow check is held for its sender: what is beyond its share is refused, others go on", async () => {
  const issuer = await startTestIssuer();
  onTestFinished(() => issuer.down());
  const { asked, release } = issuer.hold();
  onTestFinished(release);
  await start({
    issuers: [{ issuer: issuer.issuer, jwksUri: issuer.jwksUri, topics: ["**"] }],
    limits: { heldBytesPerPrincipalMax: 2_097_152 },
  });
  const [mallory, bob] = [await enter(server, "mallory"), await enter(server, "bob")];
  const aud = server.identity.gatewayId;
  mallory.send({
    kind: "system",
    payload: { type: "refresh", token: issuer.token({ sub: "mallory", aud }) },
  });
  await asked;
  const large = "x".repeat(200_000);
  const said = Array.from({ length: 10 }, () => mallory.say(large));
  // In its second room, too: it is one principal.
  const elsewhere = await enter(server, "mallory", { topic: "room:other" });
  // Each takes some 400 KB of memory, and before it is whole some 200 KB more.
  for (const id of said.slice(4)) expect(await mallory.outcome(id)).toBe("rate_limited");
  expect(await elsewhere.outcome(elsewhere.say(large))).toBe("rate_limited");
  expect(await elsewhere.outcome(elsewhere.say("hello"))).toBe("ack");
  expect(await bob.outcome(bob.say(large))).toBe("ack");
  release();
  for (const id of said.slice(0, 4)) expect(await mallory.outcome(id)).toBe("ack");
  expect(await elsewhere.outcome(elsewhere.say(large))).toBe("ack");
});

test("beyond the limit of connections newcomers get 503 and Retry-After, until somebody leaves", async () => {
  await start({ limits: { connectionsMax: 2 } });
  const first = await enter(server, "first");
  await enter(server, "second");
  const token = await server.token({ sub: "third", topics: ["**"] });
  const refusal = await refusedOnConnect(server, token, { topic: "room:test" });
  expect(refusal.message).toBe("503 too_many_connections");
  expect(refusal.headers["retry-after"]).toBe("5");
  // The others and REST are not concerned.
  expect(await first.outcome(first.say("fine"))).toBe("ack");
  expect((await server.call("GET", "/v0/topics", token)).status).toBe(200);
  await first.leave();
  await vi.waitFor(async () => (await enterWith(server, token, { topic: "room:test" })).leave(), 5_000);
});

test("a refused handshake gives its place back", async () => {
  await start({ limits: { connectionsMax: 1 } });
  for (let i = 0; i < 5; i += 1) {
    const refusal = await refusedOnConnect(server, undefined, { topic: "room:test" });
    expect(["401 unauthorised", "503 too_many_connections"]).toContain(refusal.message);
  }
  await vi.waitFor(() => enter(server, "patient"), 5_000);
});

test("beyond the limit of handshakes a second newcomers get 503 and Retry-After, for a moment", async () => {
  const perSecond = 3;
  await start({ limits: { handshakesPerSecond: perSecond } });
  const token = await server.token({ sub: "hasty", topics: ["room:test"] });
  const forbidden = () => refusedOnConnect(server, token, { topic: "room:other" });
  const began = performance.now();
  const outcomes = await Promise.all(Array.from({ length: 40 }, forbidden));
  const seconds = (performance.now() - began) / 1_000;
  const busy = outcomes.filter(({ message }) => message === "503 too_many_connections");
  expect(busy[0]?.headers["retry-after"]).toBe("1");
  const looked = outcomes.filter(({ message }) => message === "403 topic_forbidden");
  expect(looked).toHaveLength(outcomes.length - busy.length);
  expect(looked.length).toBeGreaterThanOrEqual(perSecond);
  // As many more as become free while the others come, on a machine that lets them come slowly.
  expect(looked.length).toBeLessThanOrEqual(perSecond + Math.ceil(seconds * perSecond));
  await vi.waitFor(() => enterWith(server, token, { topic: "room:test" }), 5_000);
});

test("strangers without a token use up nobody's handshakes", async () => {
  await start({ limits: { handshakesPerSecond: 3 } });
  const token = await server.token({ sub: "calm", topics: ["**"] });
  const strangers = Array.from({ length: 20 }, () =>
    refusedOnConnect(server, undefined, { topic: "room:test" }),
  );
  expect(new Set((await Promise.all(strangers)).map(({ message }) => message))).toEqual(
    new Set(["401 unauthorised"]),
  );
  await enterWith(server, token, { topic: "room:test" });
});

test("[X0-9-4] who may enter nowhere uses up nobody else's handshakes", async () => {
  await start({ limits: { handshakesPerSecond: 1 } });
  const nowhere = await server.token({ sub: "mallory", topics: [] });
  const token = await server.token({ sub: "calm", topics: ["**"] });
  const refusals = await Promise.all(
    Array.from({ length: 10 }, () => refusedOnConnect(server, nowhere, { topic: "room:test" })),
  );
  const messages = refusals.map(({ message }) => message);
  expect(messages).toContain("403 topic_forbidden");
  expect(messages).toContain("503 too_many_connections");
  await enterWith(server, token, { topic: "room:test" });
});

test("[X0-9-4] one who may enter has no more than a share of the handshakes, and its Retry-After", async () => {
  await start({ limits: { handshakesPerSecond: 50 } });
  const token = await server.token({ sub: "hasty", topics: ["**"] });
  const attempts = Array.from({ length: 80 }, () =>
    refusedOnConnect(server, token, { topic: "room:test" }).catch(() => undefined),
  );
  const refusals = (await Promise.all(attempts)).filter((refusal) => refusal !== undefined);
  expect(new Set(refusals.map(({ message }) => message))).toEqual(new Set(["503 too_many_connections"]));
  expect(refusals.length).toBeGreaterThan(30);
  expect(refusals[0]?.headers["retry-after"]).toBe("1");
});

test("[X0-9-4] many participants may come at once, each with a share of its own", async () => {
  await start({ limits: { handshakesPerSecond: 100 } });
  const everybody = Array.from({ length: 80 }, (_, i) => enter(server, `guest-${i}`));
  expect(await Promise.all(everybody)).toHaveLength(80);
});
