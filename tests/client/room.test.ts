// Being in a room: joining, talking, seeing who is there, reading the past, leaving.
import { generateKeyPairSync } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { joinRoom } from "@mcpx/client";
import { expect, onTestFinished, test } from "vitest";
import { cuttable } from "./support/cuttable.ts";
import { join, nextEvent, rejection, seen, startHouse, topic, wideLimits } from "./support/house.ts";

test("[X0-12-3] five lines: join, say, listen, look back, leave", async () => {
  const house = await startHouse();
  const bob = await join(house, "bob");
  const heard = nextEvent(bob, "chat");
  const token = await house.token({ sub: "alice", topics: [topic], level: "full" });
  {
    await using alice = await joinRoom({ url: house.url, topic, token });
    expect({ id: alice.id, level: alice.level, state: alice.state }).toEqual({
      id: "alice",
      level: "full",
      state: "live",
    });
    expect(alice.peers.map(({ id }) => id)).toEqual(["bob"]);
    const receipt = await alice.say("hello *all*", { format: "markdown" });
    expect(receipt).toMatchObject({ seq: 1, at: expect.stringMatching(/^\d{4}-/) });
    expect(await heard).toMatchObject({ from: "alice", text: "hello *all*", format: "markdown", seq: 1 });
    const { envelopes } = await alice.history({ limit: 10 });
    expect(envelopes.map(({ seq }) => seq)).toEqual([1]);
    expect(bob.peers.map(({ id }) => id)).toEqual(["alice"]);
  }
  await expect.poll(() => bob.peers).toEqual([]);
});

test("history goes on page by page, and the room begins with what was said before", async () => {
  const house = await startHouse();
  const bob = await join(house, "bob");
  for (let i = 1; i <= 5; i += 1) await bob.say(`line ${i}`);
  const first = await bob.history({ limit: 2 });
  expect(first.envelopes.map(({ seq }) => seq)).toEqual([5, 4]);
  const second = await first.next?.();
  expect(second?.envelopes.map(({ seq }) => seq)).toEqual([3, 2]);
  const late = await join(house, "late", { history: 3 });
  expect(late.recent.map(({ payload }) => payload.text)).toEqual(["line 3", "line 4", "line 5"]);
});

test("events are heard by listeners and by loops; a loop ends with the room and when it falls behind", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  const bob = await join(house, "bob");
  await seen(alice, "bob");
  const texts: string[] = [];
  const loop = (async () => {
    for await (const { text } of bob.events("chat")) texts.push(text);
    return "ended";
  })();
  const slow = bob.events("chat", { bufferMax: 2 });
  for (const text of ["one", "two", "three"]) await alice.say(text);
  await expect.poll(() => texts).toEqual(["one", "two", "three"]);
  expect((await slow.next()).value).toMatchObject({ text: "one" });
  expect((await slow.next()).value).toMatchObject({ text: "two" });
  expect(await rejection(slow.next())).toMatchObject({ reason: "fell_behind" });
  expect(await slow.next()).toMatchObject({ done: true });
  await bob.close();
  expect(await loop).toBe("ended");
  expect(bob.state).toBe("closed");
  expect(await rejection(bob.say("too late"))).toMatchObject({ reason: "closed" });
});

test("presence and levels are told", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  const joined = nextEvent(alice, "presence");
  const bob = await join(house, "bob", { level: "restricted" });
  expect(await joined).toMatchObject({ event: "join", participant: { id: "bob", privilege: "restricted" } });
  const status = nextEvent(alice, "presence", ({ event }) => event === "heartbeat");
  await bob.setStatus("busy", "baking");
  expect((await status).participant).toMatchObject({ id: "bob", status: { status: "busy" } });
  const level = nextEvent(bob, "level");
  await house.call("POST", "/admin/participants/bob/promote?level=full", await house.adminToken());
  expect(await level).toMatchObject({ participant: "bob", old: "restricted", new: "full" });
  expect(bob.level).toBe("full");
  expect(alice.peers).toMatchObject([{ id: "bob", privilege: "full" }]);
  const left = nextEvent(alice, "presence", ({ event }) => event === "leave");
  await bob.close();
  expect((await left).participant.id).toBe("bob");
});

test("[X1-6.3-4] envelopes say mcpx/v0.1 unless the older protocol was chosen; chat is understood across both", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  const old = await join(house, "old", { protocol: "mcp-x/v0" });
  const toOld = nextEvent(old, "chat");
  const toAlice = nextEvent(alice, "chat");
  await alice.say("new");
  await old.say("old");
  expect(await toOld).toMatchObject({ from: "alice", text: "new" });
  expect(await toAlice).toMatchObject({ from: "old", text: "old" });
  const { envelopes } = await alice.history();
  expect(envelopes.map(({ protocol, kind }) => [protocol, kind])).toEqual([
    ["mcp-x/v0", "mcp"],
    ["mcpx/v0.1", "chat"],
  ]);
});

test("a key brought along is shown beside the name", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  const jwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const token = await house.token({ sub: "bob", topics: ["**"], level: "full" });
  await using bob = await joinRoom({ url: house.url, topic, token, key: { ...jwk } });
  await expect.poll(() => alice.peers).toMatchObject([{ id: bob.id, key: { x: jwk.x } }]);
});

test("an endpoint that stays shut is told at once; a gateway that is away, after a while", async () => {
  const house = await startHouse();
  const token = await house.token({ sub: "alice", topics: ["elsewhere"], level: "full" });
  const refused = rejection(joinRoom({ url: house.url, topic, token }));
  expect(await refused).toMatchObject({ reason: "topic_forbidden" });
  const bad = rejection(joinRoom({ url: house.url, topic, token: "not.a.token" }));
  expect(await bad).toMatchObject({ reason: "unauthorised" });
  const away = rejection(
    joinRoom({ url: "http://127.0.0.1:9", topic, token, joinTimeoutMs: 50, backoff: { minMs: 5 } }),
  );
  expect(await away).toMatchObject({ reason: "network" });
  expect(await rejection(joinRoom({ url: house.url, topic }))).toMatchObject({ reason: "bad_option" });
  expect(await rejection(joinRoom({ url: house.url, topic: "no spaces", token }))).toMatchObject({
    reason: "bad_option",
  });
  expect(await rejection(joinRoom({ url: "ftp://x", topic, token }))).toMatchObject({ reason: "bad_option" });
  const aborted = joinRoom({ url: house.url, topic, token, signal: AbortSignal.abort(new Error("stop")) });
  expect((await rejection(aborted)).message).toBe("stop");
});

test("a provider that never answers holds up neither the limit of a join, nor its signal", async () => {
  const tokenProvider = () => new Promise<string>(() => {});
  const wanted = { url: "http://127.0.0.1:9", topic, tokenProvider };
  const late = await rejection(joinRoom({ ...wanted, joinTimeoutMs: 50 }));
  expect(late).toMatchObject({ reason: "network", message: expect.stringContaining("token provider") });
  const abort = new AbortController();
  const aborted = rejection(joinRoom({ ...wanted, signal: abort.signal }));
  abort.abort(new Error("enough"));
  expect((await aborted).message).toBe("enough");
});

test("a provider that never gives another token leaves a room waiting, which can be closed", async () => {
  const house = await startHouse();
  const good = await house.token({ sub: "alice", topics: ["**"], level: "full" });
  let asked = 0;
  const tokenProvider = () => {
    asked += 1;
    return asked === 1 ? good : new Promise<string>(() => {});
  };
  const { WebSocket, cut } = cuttable();
  const room = await join(house, "alice", { tokenProvider, token: undefined as never, WebSocket });
  await house.identity.revocations.revoke(JSON.parse(atob(good.split(".")[1] ?? "")).jti);
  cut();
  await expect.poll(() => asked).toBe(2);
  expect(room.state).toBe("reconnecting");
  await room.close();
  expect(room.state).toBe("closed");
});

for (const retryAfterS of [3_600, 3_000_000]) {
  test(`told to come back in ${retryAfterS} s, a join asks once and ends at its own limit`, async () => {
    let asked = 0;
    const busy = createServer((_, response) => {
      asked += 1;
      response
        .writeHead(503, { "retry-after": `${retryAfterS}`, "content-type": "application/json" })
        .end("{}");
    });
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void busy.close());
    const url = `http://127.0.0.1:${(busy.address() as AddressInfo).port}`;
    const refused = await rejection(joinRoom({ url, topic, token: "t", joinTimeoutMs: 300 }));
    expect(asked).toBe(1);
    expect(refused).toMatchObject({ reason: "network", retryAfterMs: 600_000 });
  });
}

test("[X0-12-4] a provider is asked again when a token is refused, and before one expires", async () => {
  const house = await startHouse({ limits: { ...wideLimits, tokenWarningMs: 60_000 } });
  const claims = { sub: "alice", topics: ["**"], level: "full" as const };
  const tokens = ["not.a.token", await house.token(claims, 5_000), await house.token(claims)];
  let asked = 0;
  const tokenProvider = async () => tokens[asked++] ?? "";
  const room = await join(house, "alice", { tokenProvider, token: undefined as never });
  // The second one ends soon: the gateway warns, and the third takes its place on the same connection.
  await expect.poll(() => asked, { timeout: 5_000 }).toBe(3);
  const admin = await house.adminToken();
  const expiry = async () =>
    (await house.call("GET", "/admin/connections", admin)).body.connections[0].tokenExpiresAt;
  await expect.poll(async () => Date.parse(await expiry()) - Date.now()).toBeGreaterThan(60_000);
  expect(room.state).toBe("live");
});

test("replaced by another connection of the same name, a room ends for good", async () => {
  const house = await startHouse();
  const first = await join(house, "alice");
  const closed = nextEvent(first, "state");
  const second = await join(house, "alice");
  expect(await closed).toEqual({ state: "closed", reason: "replaced" });
  expect(second.state).toBe("live");
});

test("kicked out, a room ends for good; a revoked token asks the provider once", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice");
  const admin = await house.adminToken();
  const closed = nextEvent(alice, "state", ({ state }) => state === "closed");
  await house.call("DELETE", `/admin/participants/alice?topic=${encodeURIComponent(topic)}`, admin);
  expect((await closed).reason).toBe("kicked");
  const claims = { sub: "bob", topics: ["**"], level: "full" as const };
  let asked = 0;
  const tokenProvider = () => {
    asked += 1;
    return house.token(claims);
  };
  const bob = await join(house, "bob", { tokenProvider, token: undefined as never });
  const { body } = await house.call("GET", "/admin/tokens", admin);
  const mine = body.tokens.filter(({ sub }: { sub: string }) => sub === "bob");
  const live = nextEvent(bob, "state", ({ state }) => state === "live");
  for (const { jti } of mine) await house.call("DELETE", `/admin/tokens/${jti}`, admin);
  await live;
  expect(asked).toBe(2);
});

test("publishing says why it was refused, by the gateway's own word", async () => {
  const house = await startHouse();
  const alice = await join(house, "alice", { level: "restricted" });
  expect(await rejection(alice.publish({ kind: "no such kind", payload: {} }))).toMatchObject({
    reason: "unknown_kind",
  });
  const { id } = await alice.publish({ kind: "chat", payload: { text: "once" } });
  expect(await rejection(alice.publish({ id, kind: "chat", payload: { text: "twice" } }))).toMatchObject({
    reason: "id_conflict",
    code: 40901,
  });
});

test("more than the gateway takes at once is paced, in order, without being thrown out", async () => {
  const house = await startHouse({
    limits: { envelopesPerSecondFull: 100, burstFactor: 1, handshakesPerSecond: 1_000 },
  });
  const alice = await join(house, "alice");
  const bob = await join(house, "bob");
  const heard: string[] = [];
  bob.addEventListener("chat", ({ detail }) => heard.push(detail.text));
  const texts = Array.from({ length: 200 }, (_, i) => `n${i}`);
  await Promise.all(texts.map((text) => alice.say(text)));
  await expect.poll(() => heard.length).toBe(200);
  expect(heard.toSorted()).toEqual(texts.toSorted());
  expect(alice.state).toBe("live");
});

test("the outbox is bounded", async () => {
  const house = await startHouse();
  const { WebSocket, cut } = cuttable();
  const alice = await join(house, "alice", {
    WebSocket,
    outboxMax: 3,
    backoff: { minMs: 2_000, maxMs: 2_000 },
  });
  const away = nextEvent(alice, "state");
  cut();
  await away;
  const outcomes = ["a", "b", "c", "d"].map((text) => rejection(alice.say(text)));
  expect(await outcomes[3]).toMatchObject({ reason: "outbox_full" });
  await alice.close();
  for (const outcome of outcomes.slice(0, 3)) expect(await outcome).toMatchObject({ reason: "closed" });
});

test("a provider that fails for a while is asked again; a token in another name is the end", async () => {
  const house = await startHouse();
  const claims = { topics: ["**"], level: "full" as const };
  const good = await house.token({ ...claims, sub: "alice" });
  const other = await house.token({ ...claims, sub: "bob" });
  const answers = [undefined, good, undefined, undefined, other];
  const tokenProvider = async () => {
    const answer = answers.shift();
    if (answer === undefined) throw new Error("the issuer is away");
    return answer;
  };
  const { WebSocket, cut } = cuttable();
  const room = await join(house, "alice", { tokenProvider, token: undefined as never, WebSocket });
  expect(room.id).toBe("alice");
  await house.identity.revocations.revoke(JSON.parse(atob(good.split(".")[1] ?? "")).jti);
  const closed = nextEvent(room, "state", ({ state }) => state === "closed");
  cut();
  expect((await closed).reason).toBe("identity_change");
});
