// A participant's public key: brought by its token or by itself, listed for everybody, and not exchanged silently.
import { generateKeyPairSync } from "node:crypto";
import type { PublicJwk, TokenClaims } from "@mcpx/host";
import { afterAll, expect, test } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer();
afterAll(() => server.stop());

const topic = "room:keys";

function newKey(): PublicJwk {
  const { publicKey } = generateKeyPairSync("ed25519");
  return publicKey.export({ format: "jwk" }) as unknown as PublicJwk;
}

test("[X1-7.1-2] a token's key is listed in the welcome, in presence and over REST", async () => {
  const watcher = await enter(server, "watcher", { topic });
  const jwk = newKey();
  const alice = await enter(server, "alice", { topic, cnf: { jwk } });
  expect((await watcher.event("join")).payload.participant).toMatchObject({ id: "alice", key: jwk });
  const late = await enter(server, "late", { topic });
  const listed = late.welcome.payload.participants.find(({ id }: { id: string }) => id === "alice");
  expect(listed.key).toEqual(jwk);
  const { body } = await server.call(
    "GET",
    `/v0/topics/${topic}/participants`,
    await server.token({ sub: "reader", topics: [topic] }),
  );
  expect(body.participants).toContainEqual(expect.objectContaining({ id: "alice", key: jwk }));
  await Promise.all([watcher.leave(), alice.leave(), late.leave()]);
});

test("[X1-7.1-2] another key for the same id is refused everywhere until an admin resets it", async () => {
  const claims = { sub: "bound", topics: ["**"] };
  const first = { jwk: newKey() };
  const second = { jwk: newKey() };
  await (await enter(server, "bound", { topic, cnf: first })).leave();
  const other = await server.token({ ...claims, cnf: second });
  for (const room of [topic, "room:another"]) {
    expect((await refusedOnConnect(server, other, { topic: room })).message).toBe("403 key_mismatch");
  }
  await server.restart();
  expect((await refusedOnConnect(server, other, { topic })).message).toBe("403 key_mismatch");
  await (await enter(server, "bound", { topic, cnf: first })).leave();
  const path = "/admin/participants/bound/key";
  expect((await server.call("DELETE", path)).status).toBe(401);
  expect((await server.call("DELETE", path, other)).status).toBe(403);
  const reset = await server.call("DELETE", path, await server.adminToken());
  expect(reset.body).toEqual({ participantId: "bound", resetBy: "admin" });
  expect((await server.call("DELETE", path, await server.adminToken())).status).toBe(404);
  await (await enter(server, "bound", { topic, cnf: second })).leave();
  expect(
    (await refusedOnConnect(server, await server.token({ ...claims, cnf: first }), { topic })).message,
  ).toBe("403 key_mismatch");
});

test("[X1-4-3] a participant may bring its key itself; the room hears of it, and another one is refused", async () => {
  const watcher = await enter(server, "watcher", { topic });
  const bob = await enter(server, "bob", { topic, level: "restricted" });
  const jwk = newKey();
  const bring = (key: unknown) =>
    bob.outcome(bob.send({ kind: "system", payload: { type: "key", jwk: key } }));
  expect(await bring(jwk)).toBe("ack");
  expect((await watcher.event("heartbeat")).payload.participant).toMatchObject({ id: "bob", key: jwk });
  expect(await bring(jwk)).toBe("ack");
  expect(await bring(newKey())).toBe("key_mismatch");
  await bob.leave();
  expect(
    (
      await refusedOnConnect(
        server,
        await server.token({ sub: "bob", topics: [topic], cnf: { jwk: newKey() } }),
        { topic },
      )
    ).message,
  ).toBe("403 key_mismatch");
});

test("[X1-4-3] a key that is private, of another kind or no point of its curve is refused", async () => {
  const dora = await enter(server, "dora", { topic });
  const pair = generateKeyPairSync("ed25519");
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({ format: "jwk" });
  const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" });
  const bad = [pair.privateKey.export({ format: "jwk" }), rsa, { ...p256, y: p256.x }, {}, "key", undefined];
  for (const jwk of bad) {
    const id = dora.send({ kind: "system", payload: { type: "key", jwk } });
    expect(await dora.outcome(id)).toBe("bad_system");
  }
  expect(await dora.outcome(dora.send({ kind: "system", payload: { type: "key", jwk: p256 } }))).toBe("ack");
  await dora.leave();
});

test("[X1-7.1-2] who came with a token bound to one key cannot bring another, also after a reset", async () => {
  const jwk = newKey();
  const erin = await enter(server, "erin", { topic, cnf: { jwk } });
  const reset = await server.call("DELETE", "/admin/participants/erin/key", await server.adminToken());
  expect(reset.status).toBe(200);
  const bring = (key: PublicJwk) =>
    erin.outcome(erin.send({ kind: "system", payload: { type: "key", jwk: key } }));
  expect(await bring(newKey())).toBe("key_mismatch");
  expect(await bring(jwk)).toBe("ack");
  await erin.leave();
});

test("[X0-4-7] in open mode an id that has a key is its bringer's: no other token asserts it, and who has the key may", async () => {
  const open = await startTestServer({ gateway: { mode: "open" } });
  try {
    const token = (more: Partial<TokenClaims> = {}) =>
      open.token({ topics: ["**"], level: "full", ...more } as TokenClaims);
    const [own, other] = [await token(), await token()];
    const jwk = newKey();
    const query = { topic, id: "carol" };
    // Control: an id without a key may be anybody's, one after the other.
    await (await enterWith(open, other, query)).leave();
    const carol = await enterWith(open, own, query);
    expect(await carol.outcome(carol.send({ kind: "system", payload: { type: "key", jwk } }))).toBe("ack");
    await carol.leave();
    expect((await refusedOnConnect(open, other, query)).message).toBe("403 key_mismatch");
    const wrong = await token({ cnf: { jwk: newKey() } });
    expect((await refusedOnConnect(open, wrong, query)).message).toBe("403 key_mismatch");
    await (await enterWith(open, own, query)).leave();
    await (await enterWith(open, await token({ cnf: { jwk } }), query)).leave();
    await open.restart();
    expect((await refusedOnConnect(open, other, query)).message).toBe("403 key_mismatch");
    await (await enterWith(open, own, query)).leave();
    await open.call("DELETE", "/admin/participants/carol/key", await open.adminToken());
    await (await enterWith(open, other, query)).leave();
  } finally {
    await open.stop();
  }
});
