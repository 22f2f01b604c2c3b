// Taking a token back, and changing the key that signs them.
import { afterEach, beforeEach, expect, test } from "vitest";
import { enterWith, refusedOnConnect } from "../support/enter.ts";
import { fairNow } from "../support/fair-now.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
beforeEach(async () => {
  server = await startTestServer();
});
afterEach(() => server.stop());

const topics = ["room:one", "room:two"] as const;

const mint = (sub = "alice") =>
  server.identity.tokens.mint({ sub, topics, level: "full" }, { ttlMs: 600_000 });

test("[X0-5.1-2] a revoked token's connections are closed within a second, others stay", async () => {
  const { token, jti } = await mint();
  const doomed = await Promise.all(topics.map((topic) => enterWith(server, token, { topic })));
  const bob = await enterWith(server, (await mint("bob")).token, { topic: "room:one" });
  const began = fairNow();
  const { status, body } = await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
  expect(status).toBe(200);
  expect(body).toMatchObject({ jti, revokedBy: "admin", revokedAt: expect.any(String) });
  for (const client of doomed) {
    expect(await client.closing()).toEqual({ code: 4401, reason: "token_revoked" });
  }
  expect(fairNow() - began).toBeLessThan(1_000);
  expect((await bob.event("leave")).payload).toMatchObject({ reason: "token_revoked" });
  expect(await bob.outcome(bob.say("still here"))).toBe("ack");
});

test("[X0-5.1-2] what another process revokes is closed within a second too", async () => {
  const { token, jti } = await mint();
  const client = await enterWith(server, token, { topic: "room:one" });
  const began = fairNow();
  await server.identity.revocations.revoke(jti);
  expect(await client.closing()).toEqual({ code: 4401, reason: "token_revoked" });
  expect(fairNow() - began).toBeLessThan(1_000);
});

test("[X0-5.1-2] a revocation outlives a restart, and a new token of the same participant works", async () => {
  const { token, jti } = await mint();
  await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
  await server.restart();
  const query = { topic: "room:one" };
  expect((await refusedOnConnect(server, token, query)).message).toBe("401 token_revoked");
  const { body } = await server.call("GET", "/admin/tokens", await server.adminToken());
  const listed = body.tokens.find((one: { jti: string }) => one.jti === jti);
  expect(listed).toMatchObject({ sub: "alice", revokedAt: expect.any(String) });
  await (await enterWith(server, (await mint()).token, query)).leave();
});

test("[X0-5.1-2] a refresh to a good token saves a connection from its first token's revocation", async () => {
  const first = await mint();
  const client = await enterWith(server, first.token, { topic: "room:one" });
  const { token } = await mint();
  expect(await client.outcome(client.send({ kind: "system", payload: { type: "refresh", token } }))).toBe(
    "ack",
  );
  await server.call("DELETE", `/admin/tokens/${first.jti}`, await server.adminToken());
  expect(await client.outcome(client.say("still here"))).toBe("ack");
});

test("[X0-5.1-2] after a rotation old tokens hold, new ones are signed by the new key, both are published", async () => {
  const keyIds = async () =>
    (await server.call("GET", "/.well-known/jwks.json")).body.keys.map(({ kid }: { kid: string }) => kid);
  const kidOf = (token: string) => JSON.parse(atob(token.split(".")[0] ?? "")).kid;
  const { token: old } = await mint();
  const live = await enterWith(server, old, { topic: "room:one" });
  expect(await keyIds()).toEqual([kidOf(old)]);
  const { kid, retired } = await server.identity.keys.rotate();
  expect(retired).toBe(kidOf(old));
  const { token: young } = await mint("bob");
  expect(kidOf(young)).toBe(kid);
  expect((await keyIds()).sort()).toEqual([kid, retired].sort());
  for (const token of [old, young]) await (await enterWith(server, token, { topic: "room:two" })).leave();
  expect(await live.outcome(live.say("undisturbed"))).toBe("ack");
  await server.restart();
  await (await enterWith(server, old, { topic: "room:two" })).leave();
});

test("[X0-5.1-3] revoking and listing tokens is for admins", async () => {
  const { token, jti } = await mint();
  for (const [method, path] of [
    ["GET", "/admin/tokens"],
    ["DELETE", `/admin/tokens/${jti}`],
  ] as const) {
    expect((await server.call(method, path)).status).toBe(401);
    const { status, body } = await server.call(method, path, token);
    expect(`${status} ${body.error.reason}`).toBe("403 admin_only");
  }
  await (await enterWith(server, token, { topic: "room:one" })).leave();
});
