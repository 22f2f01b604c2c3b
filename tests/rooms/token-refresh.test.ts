// `system` `refresh`: a new token for a live connection, and what it cannot change.
import { generateKeyPairSync } from "node:crypto";
import type { PublicJwk, TokenClaims } from "@mcpx/host";
import { afterAll, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
const stranger = await startTestServer();
afterAll(() => Promise.all([server.stop(), stranger.stop()]));

const newKey = () =>
  generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }) as unknown as PublicJwk;

const refresh = (client: TestClient, token: unknown) =>
  client.send({ kind: "system", payload: { type: "refresh", token } });

async function revoked(claims: TokenClaims): Promise<string> {
  const { token, jti } = await server.identity.tokens.mint(claims, { ttlMs: 60_000 });
  await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
  return token;
}

const refused: [string, (claims: TokenClaims) => Promise<unknown>, string][] = [
  ["another participant's", (claims) => server.token({ ...claims, sub: "mallory" }), "identity_change"],
  ["one bound to a key", (claims) => server.token({ ...claims, cnf: { jwk: newKey() } }), "identity_change"],
  ["one for other topics", (claims) => server.token({ ...claims, topics: ["elsewhere"] }), "topic_forbidden"],
  ["another gateway's", (claims) => stranger.token(claims), "unauthorised"],
  ["a revoked one", revoked, "token_revoked"],
  ["no token at all", async () => "not.a.token", "unauthorised"],
  ["a number", async () => 7, "bad_system"],
];

test.each(refused)("[X1-7.1-2] %s is refused and changes nothing", async (name, make, reason) => {
  const topic = "room:refused";
  const claims: TokenClaims = { sub: "alice", topics: [topic], level: "restricted" };
  const watcher = await enter(server, "watcher", { topic });
  const alice = await enter(server, "alice", { topic, level: "restricted" });
  await watcher.event("join");
  const token = await make({ ...claims, level: "full" });
  const id = refresh(alice, token);
  expect(await alice.outcome(id), name).toBe(reason);
  // Still who it was, with the level it had; nobody else heard of it.
  const call = alice.send({
    kind: "mcp",
    to: ["watcher"],
    payload: { jsonrpc: "2.0", id: 1, method: "ping" },
  });
  expect(await alice.outcome(call)).toBe("privilege_violation");
  expect(await watcher.taken()).toEqual([]);
  await Promise.all([alice.leave(), watcher.leave()]);
});

test("[X1-7.1-2] a key-bound connection is refreshed only by a token bound to the same key", async () => {
  const topic = "room:bound";
  const jwk = newKey();
  const claims: TokenClaims = { sub: "bound", topics: [topic], level: "full" };
  const client = await enter(server, "bound", { topic, cnf: { jwk } });
  expect(await client.outcome(refresh(client, await server.token(claims)))).toBe("identity_change");
  const other = await server.token({ ...claims, cnf: { jwk: newKey() } });
  expect(await client.outcome(refresh(client, other))).toBe("identity_change");
  expect(await client.outcome(refresh(client, await server.token({ ...claims, cnf: { jwk } })))).toBe("ack");
  await client.leave();
});

test("[X1-5.1-3] a refresh evaluates the level anew and announces it to the room", async () => {
  const topic = "room:level";
  const watcher = await enter(server, "watcher", { topic });
  const alice = await enter(server, "alice", { topic, level: "restricted" });
  const claims: TokenClaims = { sub: "alice", topics: [topic] };
  refresh(alice, await server.token({ ...claims, level: "full" }));
  for (const client of [alice, watcher]) {
    expect(await client.event("privilege_changed")).toMatchObject({
      from: "system:gateway",
      payload: { participant: "alice", old: "restricted", new: "full", by: "token" },
    });
  }
  // The same level again is no news.
  const again = refresh(alice, await server.token({ ...claims, level: "full" }));
  expect(await alice.outcome(again)).toBe("ack");
  expect(await watcher.taken()).toEqual([]);
  refresh(alice, await server.token(claims));
  expect((await watcher.event("privilege_changed")).payload).toMatchObject({
    old: "full",
    new: "restricted",
  });
});

test("[X1-5.1-3] an admin's decision stands against a refresh", async () => {
  const topic = "room:decided";
  const alice = await enter(server, "decided", { topic });
  const admin = await server.adminToken();
  expect((await server.call("POST", `/admin/participants/decided/demote?topic=${topic}`, admin)).status).toBe(
    200,
  );
  await alice.event("privilege_changed");
  const id = refresh(alice, await server.token({ sub: "decided", topics: [topic], level: "full" }));
  expect(await alice.outcome(id)).toBe("ack");
  expect((await alice.taken()).filter(({ payload }) => payload.event === "privilege_changed")).toEqual([]);
});

test("[X1-4-3] a refresh is for the gateway only: no envelope of it is relayed or kept", async () => {
  const topic = "room:private";
  const watcher = await enter(server, "watcher", { topic });
  const alice = await enter(server, "alice", { topic });
  await watcher.event("join");
  const token = await server.token({ sub: "alice", topics: [topic], level: "full" });
  expect(await alice.outcome(refresh(alice, token))).toBe("ack");
  expect(await watcher.taken()).toEqual([]);
  const { body } = await server.call("GET", `/v0/topics/${topic}/history`, token);
  expect(body.envelopes).toEqual([]);
  expect(server.logged.join("")).not.toContain(token);
});
