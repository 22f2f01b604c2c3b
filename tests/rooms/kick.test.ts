// An admin removes somebody: at once, and for good until another decision.
import { afterEach, beforeEach, expect, test } from "vitest";
import { enter, refusedOnConnect } from "../support/enter.ts";
import { startTestIssuer, type TestIssuer } from "../support/test-issuer.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let issuer: TestIssuer;
let server: TestServer;
beforeEach(async () => {
  issuer = await startTestIssuer();
  const trusted = { issuer: issuer.issuer, jwksUri: issuer.jwksUri, topics: ["**"] };
  server = await startTestServer({ gateway: { mode: "open" }, issuers: [trusted] });
});
afterEach(async () => {
  await server.stop();
  await issuer.down();
});

const pest = { sub: "pest", topics: ["**"] };
const kick = async (query = "") =>
  server.call("DELETE", `/admin/participants/pest?${query}`, await server.adminToken());

test("a kick closes with 4403 and is announced", async () => {
  const peer = await enter(server, "peer");
  const client = await enter(server, "pest");
  await peer.event("join");
  const { status, body } = await kick("topic=room:test");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    participantId: "pest",
    kickedBy: "admin",
    connections: 1,
    topic: "room:test",
  });
  expect(await client.closing()).toEqual({ code: 4403, reason: "kicked" });
  expect((await peer.event("leave")).payload).toMatchObject({
    participant: { id: "pest" },
    reason: "kicked",
  });
  const news = await peer.event("privilege_changed");
  expect(news.payload).toMatchObject({ participant: "pest", old: "full", new: "none", by: "admin" });
});

test("[X1-5.1-3] a kick holds over a restart, against token and mode, at every endpoint of that topic only", async () => {
  await (await enter(server, "pest")).leave();
  await kick("topic=room:test");
  await server.restart();
  const token = await server.token({ ...pest, level: "full" });
  expect((await refusedOnConnect(server, token, { topic: "room:test" })).message).toBe("403 kicked");
  for (const what of ["history", "participants"]) {
    const { status, body } = await server.call("GET", `/v0/topics/room:test/${what}`, token);
    expect(`${status} ${body.error?.reason}`).toBe("403 kicked");
  }
  await (await enter(server, "pest", { topic: "room:other" })).leave();
});

test("[X1-5.1-3] kicked from everywhere is everywhere, until a level is given again", async () => {
  await (await enter(server, "pest")).leave();
  await kick();
  const token = await server.token(pest);
  for (const topic of ["room:test", "room:never-seen"]) {
    expect((await refusedOnConnect(server, token, { topic })).message).toBe("403 kicked");
  }
  const path = "/admin/participants/pest/promote?topic=room:test&level=restricted";
  expect((await server.call("POST", path, await server.adminToken())).body).toMatchObject({
    oldPrivilege: "none",
    newPrivilege: "restricted",
  });
  const client = await enter(server, "pest");
  expect(client.welcome.payload.participant.privilege).toBe("restricted");
  expect((await refusedOnConnect(server, token, { topic: "room:other" })).message).toBe("403 kicked");
});

test("[X0-5.3-1] [X1-5.1-3] the list of topics leaves out those one was kicked from, and is refused where that is all", async () => {
  for (const topic of ["room:test", "room:other"]) await (await enter(server, "pest", { topic })).leave();
  const token = await server.token(pest);
  const listed = async () => {
    const { body } = await server.call("GET", "/v0/topics", token);
    return body.error?.reason ?? body.topics.map(({ name }: { name: string }) => name);
  };
  expect(await listed()).toEqual(["room:other", "room:test"]);
  await kick("topic=room:test");
  expect(await listed()).toEqual(["room:other"]);
  await kick();
  expect(await listed()).toBe("kicked");
  const path = "/admin/participants/pest/promote?topic=room:test&level=restricted";
  await server.call("POST", path, await server.adminToken());
  expect(await listed()).toEqual(["room:test"]);
});

test("a kick is for admins, and for who was ever here", async () => {
  const token = await server.token(pest);
  expect((await kick()).status).toBe(404);
  await (await enter(server, "pest")).leave();
  expect((await server.call("DELETE", "/admin/participants/pest")).status).toBe(401);
  expect((await server.call("DELETE", "/admin/participants/pest", token)).status).toBe(403);
  await (await enter(server, "pest")).leave();
});

test("what waited behind a kick is dropped, and so is the refresh it waited for", async () => {
  const peer = await enter(server, "peer");
  const client = await enter(server, "pest");
  await peer.event("join");
  const { asked, release } = issuer.hold();
  const token = issuer.token({ aud: server.identity.gatewayId, topics: ["**"] });
  client.send({ kind: "system", payload: { type: "refresh", token } });
  client.say("one last thing");
  await asked;
  await kick();
  release();
  expect((await client.closing()).code).toBe(4403);
  expect(await peer.outcome(peer.say("gone"))).toBe("ack");
  const { body } = await server.call(
    "GET",
    "/v0/topics/room:test/history",
    await server.token({ topics: ["**"] }),
  );
  expect(body.envelopes.map(({ from }: { from: string }) => from)).toEqual(["peer"]);
});
