// Connections made in the server's process stand beside a participant's own socket, under the same rules.
import { afterAll, expect, test } from "vitest";
import { enter, enterWith, positionOf } from "../support/enter.ts";
import { enterVirtually, enterVirtuallyWith } from "../support/enter-virtually.ts";
import type { Seen } from "../support/test-client.ts";
import { startTestServer } from "../support/test-server.ts";

const server = await startTestServer({ limits: { tokenWarningMs: 100 } });
const strict = await startTestServer({ gateway: { takeover: "refuse" } });
afterAll(() => Promise.all([server.stop(), strict.stop()]));

const reasonOf = (refusal: Promise<unknown>) =>
  refusal.then(
    () => "was let in",
    ({ code }: { code: string }) => code,
  );

const presence = (seen: Seen[]) =>
  seen
    .filter(({ kind }) => kind === "presence")
    .map(({ payload }) => [payload.event, payload.participant.id]);

test("[B-ROOM-1] a virtual connection replaces nobody and nobody replaces it", async () => {
  const topic = "room:beside";
  const own = await enter(server, "alice", { topic });
  const first = await enterVirtually(server, "alice", { topic });
  const second = await enterVirtually(server, "alice", { topic });
  const bob = await enter(server, "bob", { topic });
  expect(bob.welcome.payload.participants.map(({ id }: Seen) => id)).toEqual(["alice"]);
  for (const one of [own, first, second]) {
    const id = one.say(`from ${one.welcome.payload.connection_id}`);
    expect((await one.ack(id)).payload.seq).toBeGreaterThan(0);
  }
  // Takeover among own sockets is as it was.
  const other = await enter(server, "alice", { topic });
  expect(await own.closing()).toEqual({ code: 4409, reason: "replaced" });
  expect(await first.outcome(first.say("still here"))).toBe("ack");
  expect(await other.outcome(other.say("me too"))).toBe("ack");
});

test("[B-ROOM-1] an ack goes to the connection that sent; its siblings see the envelope like everybody", async () => {
  const topic = "room:acks";
  const own = await enter(server, "alice", { topic, query: { seq: "1" } });
  const extra = await enterVirtually(server, "alice", { topic, query: { seq: "1" } });
  const fromExtra = extra.say("virtually");
  const fromOwn = own.say("really");
  await extra.find(({ id }) => id === fromOwn);
  await own.find(({ id }) => id === fromExtra);
  await own.settled();
  const shown = (texts: readonly string[]) =>
    texts
      .map((text) => JSON.parse(text))
      .map(({ id, payload }) => (payload.event === "ack" ? `ack ${payload.id}` : id))
      .filter((word) => word.includes(fromExtra) || word.includes(fromOwn))
      .sort();
  expect(shown(extra.texts)).toEqual([fromOwn, `ack ${fromExtra}`].sort());
  expect(shown(own.texts)).toEqual([fromExtra, `ack ${fromOwn}`].sort());
});

test("[B-ROOM-1] who was away sees what its virtual connection said meanwhile", async () => {
  const topic = "room:away";
  const own = await enter(server, "alice", { topic, query: { seq: "1" } });
  const extra = await enterVirtually(server, "alice", { topic });
  await own.leave();
  const said = extra.say("while you were out");
  await extra.ack(said);
  const back = await enter(server, "alice", { topic, query: { seq: "1", resume: positionOf(own) } });
  expect((await back.find(({ id }) => id === said)).payload.text).toBe("while you were out");
});

test("[B-ROOM-1] presence and lists know a participant once", async () => {
  const topic = "room:once";
  const watcher = await enter(server, "watcher", { topic });
  const first = await enterVirtually(server, "alice", { topic });
  const second = await enterVirtually(server, "alice", { topic });
  expect(second.welcome.payload.participants.map(({ id }: Seen) => id)).toEqual(["watcher"]);
  const token = await server.adminToken();
  const { body } = await server.call("GET", `/v0/topics/${encodeURIComponent(topic)}/participants`, token);
  expect(body.participants.map(({ id }: Seen) => id).sort()).toEqual(["alice", "watcher"]);
  const topics = (await server.call("GET", "/v0/topics", token)).body.topics;
  expect(topics.find(({ name }: Seen) => name === topic).participants).toBe(2);
  await first.leave();
  await watcher.settled();
  const own = await enter(server, "alice", { topic });
  await second.leave();
  await own.leave();
  await watcher.find(({ payload }) => payload.event === "leave");
  const seen = watcher.texts.map((text) => JSON.parse(text));
  // An own socket is news again: what is served comes with it.
  expect(presence(seen)).toEqual([
    ["join", "alice"],
    ["join", "alice"],
    ["leave", "alice"],
  ]);
});

test("[B-ROOM-1] levels, kicks and revocation reach every connection of a participant, and are told once", async () => {
  const topic = "room:reach";
  const admin = await server.adminToken();
  const watcher = await enter(server, "watcher", { topic });
  const own = await enter(server, "alice", { topic });
  const extra = await enterVirtually(server, "alice", { topic });
  const at = (path: string, verb = "POST") =>
    server.call(verb, `/admin/participants/alice${path}?topic=${encodeURIComponent(topic)}`, admin);
  await at("/demote");
  expect((await extra.event("privilege_changed")).payload.new).toBe("restricted");
  const call = { kind: "mcp", to: ["watcher"], payload: { jsonrpc: "2.0", id: 1, method: "ping" } };
  expect(await extra.outcome(extra.send(call))).toBe("privilege_violation");
  expect(await own.outcome(own.send(call))).toBe("privilege_violation");
  expect((await at("", "DELETE")).body.connections).toBe(2);
  expect(await extra.closing()).toEqual({ code: 4403, reason: "kicked" });
  expect(await own.closing()).toEqual({ code: 4403, reason: "kicked" });
  expect(await reasonOf(enterVirtually(server, "alice", { topic }))).toBe("kicked");
  await watcher.find(({ payload }) => payload.new === "none");
  const told = watcher.texts
    .map((text) => JSON.parse(text).payload)
    .filter(({ event }) => event === "privilege_changed");
  expect(told.map((payload) => [payload.old, payload.new])).toEqual([
    ["full", "restricted"],
    ["restricted", "none"],
  ]);
});

test("[B-ROOM-1] a revoked or ended token ends its virtual connections, and only those", async () => {
  const topic = "room:ends";
  const { token, jti } = await server.identity.tokens.mint(
    { sub: "alice", topics: [topic], level: "full" },
    { ttlMs: 60_000 },
  );
  const own = await enter(server, "alice", { topic });
  const revoked = await enterVirtuallyWith(server, token, { topic });
  const ending = await enterVirtually(server, "alice", { topic, ttlMs: 1_500 });
  await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
  expect(await revoked.closing()).toEqual({ code: 4401, reason: "token_revoked" });
  expect(await ending.closing()).toEqual({ code: 4401, reason: "token_expired" });
  const principal = {
    ...(await server.identity.tokens.verify(await server.token({ sub: "alice", topics: [topic] }))),
    jti,
  };
  expect(await reasonOf(server.rooms.enter(principal, new URLSearchParams({ topic })))).toBe("token_revoked");
  expect(await own.outcome(own.say("here"))).toBe("ack");
});

test("[B-ROOM-1] the endpoint's rules hold: topics, ids, parameters", async () => {
  const token = await server.token({ sub: "alice", topics: ["room:mine"], level: "full" });
  const principal = await server.identity.tokens.verify(token);
  const tries: [Record<string, string>, string][] = [
    [{ topic: "room:other" }, "topic_forbidden"],
    [{ topic: "room:mine", id: "bob" }, "bad_request"],
    [{ topic: "room:mine", history: "x" }, "bad_request"],
    [{ topic: "room:mine", protocol: "mcpx/v9" }, "unsupported_protocol"],
    [{}, "bad_request"],
  ];
  for (const [query, reason] of tries) {
    expect(await reasonOf(server.rooms.enter(principal, new URLSearchParams(query)))).toBe(reason);
  }
  expect(await reasonOf(server.rooms.history(principal, "room:other", new URLSearchParams()))).toBe(
    "topic_forbidden",
  );
});

test("[B-ROOM-1] what is no envelope is refused as on a socket, and abuse ends in a close", async () => {
  const limits = { envelopeBytesMax: 2_000, faultsPerMinute: 5 };
  const small = await startTestServer({ limits });
  try {
    const extra = await enterVirtually(small, "alice");
    const faults: [unknown, string][] = [
      ["x".repeat(2_001), "too_large"],
      ["\ud800", "bad_utf8"],
      [new Uint8Array(3), "not_text"],
      ["[]", "not_an_object"],
    ];
    for (const [text, reason] of faults) {
      (extra.ws as Seen).send(text);
      expect((await extra.event("error")).payload.reason).toBe(reason);
    }
    expect(await extra.outcome(extra.send({ from: "bob", kind: "chat", payload: { text: "x" } }))).toBe(
      "wrong_from",
    );
    expect(await extra.closing()).toEqual({ code: 4429, reason: "too_many_faults" });
  } finally {
    await small.stop();
  }
});

test("[B-ROOM-1] where a second own socket is refused, a virtual connection is not, nor does it take the place", async () => {
  const extra = await enterVirtually(strict, "alice");
  const token = await strict.token({ sub: "alice", topics: ["room:test"], level: "full" });
  const own = await enterWith(strict, token, { topic: "room:test" });
  const another = await enterVirtually(strict, "alice");
  for (const one of [own, extra, another]) expect(await one.outcome(one.say("here"))).toBe("ack");
});

test("[B-ROOM-1] a room of one virtual connection drains like any other", async () => {
  const brief = await startTestServer();
  const extra = await enterVirtually(brief, "alice");
  const said = extra.say("last words");
  await brief.stop();
  expect(await extra.closing()).toEqual({ code: 4503, reason: "draining; reconnect" });
  const ended = extra.inbox.map(({ payload }) => payload.event);
  expect(ended).toEqual(["draining", "ack"]);
  expect(extra.inbox[1].payload.id).toBe(said);
});

test("[B-ROOM-1] they count as connections, and let go of their place", async () => {
  const tight = await startTestServer({ limits: { connectionsMax: 2 } });
  try {
    const first = await enterVirtually(tight, "alice");
    await enterVirtually(tight, "bob");
    expect(await reasonOf(enterVirtually(tight, "carol"))).toBe("too_many_connections");
    await first.leave();
    const carol = await enterVirtually(tight, "carol");
    expect(await carol.outcome(carol.say("in"))).toBe("ack");
  } finally {
    await tight.stop();
  }
});
