// Admins' decisions about levels: at once on live connections, kept, the newest counts.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { enter } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { startTestIssuer } from "../support/test-issuer.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const issuer = await startTestIssuer();
let server: TestServer;
let admin: string;
beforeAll(async () => {
  server = await startTestServer({ issuers: [{ issuer: issuer.issuer, jwksUri: issuer.jwksUri }] });
  admin = await server.adminToken();
});
afterAll(async () => {
  await server.stop();
  await issuer.down();
});

type Verb = "promote" | "demote";
const decide = (verb: Verb, id: string, query = "") =>
  server.call("POST", `/admin/participants/${id}/${verb}?${query}`, admin);

const call = (client: TestClient) =>
  client.outcome(
    client.send({ kind: "mcp", to: ["peer"], payload: { jsonrpc: "2.0", id: 1, method: "ping" } }),
  );

async function levelAtJoin(id: string, topic: string): Promise<string> {
  const client = await enter(server, id, { topic, level: "responder" });
  await client.leave();
  return client.welcome.payload.participant.privilege;
}

test("[X1-5.1-2] [X1-10.3-1] [X1-10.3-2] a promotion acts at once, is answered in full and announced to all", async () => {
  const topic = "room:promote";
  const peer = await enter(server, "peer", { topic });
  const novice = await enter(server, "novice", { topic, level: "restricted" });
  expect(await call(novice)).toBe("privilege_violation");
  const { status, body } = await decide("promote", "novice", `topic=${topic}`);
  expect(status).toBe(200);
  expect(body).toEqual({
    participantId: "novice",
    oldPrivilege: "restricted",
    newPrivilege: "full",
    promotedBy: "admin",
    promotedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    topic,
  });
  for (const client of [novice, peer]) {
    const news = await client.event("privilege_changed");
    expect(news).toMatchObject({ kind: "system", from: "system:gateway" });
    expect(news.payload).toMatchObject({
      participant: "novice",
      old: "restricted",
      new: "full",
      by: "admin",
    });
    expect(news.seq).toBeUndefined();
  }
  expect(await call(novice)).toBe("ack");
  // Repeating is harmless and no news.
  expect((await decide("promote", "novice", `topic=${topic}`)).status).toBe(200);
  expect((await peer.taken()).filter(({ kind }) => kind === "system")).toEqual([]);
});

test("[X1-5.1-2] a demotion mirrors it", async () => {
  const topic = "room:demote";
  const chief = await enter(server, "chief", { topic });
  const { body } = await decide("demote", "chief", `topic=${topic}&level=responder`);
  expect(body).toMatchObject({
    oldPrivilege: "full",
    newPrivilege: "responder",
    demotedBy: "admin",
    demotedAt: expect.any(String),
  });
  await chief.event("privilege_changed");
  expect(await call(chief)).toBe("privilege_violation");
});

test("[X1-5.1-2] envelopes that waited behind a demotion are judged by the new level", async () => {
  const topic = "room:queue";
  const peer = await enter(server, "peer", { topic });
  const chief = await enter(server, "busy", { topic });
  await peer.event("join");
  const { asked, release } = issuer.hold();
  // A refresh that waits for an issuer holds everything this connection sent after it.
  const token = issuer.token({ sub: "outsider", aud: server.identity.gatewayId, topics: ["**"] });
  const refresh = chief.send({ kind: "system", payload: { type: "refresh", token } });
  const behind = chief.send({
    kind: "mcp",
    to: ["peer"],
    payload: { jsonrpc: "2.0", id: 9, method: "ping" },
  });
  await asked;
  expect((await decide("demote", "busy", `topic=${topic}`)).status).toBe(200);
  release();
  expect(await chief.outcome(refresh)).toBe("identity_change");
  expect(await chief.outcome(behind)).toBe("privilege_violation");
  expect((await peer.taken()).map(({ payload }) => payload.event)).toEqual(["privilege_changed"]);
});

describe("[X1-5.1-2] [X1-5.1-3] a decision", () => {
  test("outlives a restart and beats what the token says", async () => {
    await (await enter(server, "kept", { topic: "room:a" })).leave();
    await decide("demote", "kept", "topic=room:a");
    await server.restart();
    admin = await server.adminToken();
    expect(await levelAtJoin("kept", "room:a")).toBe("restricted");
    expect(await levelAtJoin("kept", "room:b")).toBe("responder");
  });

  test("for all topics counts everywhere, also where the participant has not been", async () => {
    const here = await enter(server, "global", { topic: "room:a" });
    const there = await enter(server, "global", { topic: "room:b" });
    await decide("demote", "global");
    for (const client of [here, there]) await client.event("privilege_changed");
    expect(await levelAtJoin("global", "room:c")).toBe("restricted");
  });

  test("is replaced by the newest that covers the topic, whichever is wider", async () => {
    await (await enter(server, "fickle", { topic: "room:a" })).leave();
    await decide("demote", "fickle", "topic=room:a");
    await decide("promote", "fickle");
    expect(await levelAtJoin("fickle", "room:a")).toBe("full");
    await decide("demote", "fickle", "topic=room:a");
    expect(await levelAtJoin("fickle", "room:a")).toBe("restricted");
    expect(await levelAtJoin("fickle", "room:b")).toBe("full");
  });

  test("for one topic changes no other connection", async () => {
    const here = await enter(server, "split", { topic: "room:a" });
    const there = await enter(server, "split", { topic: "room:b" });
    await decide("demote", "split", "topic=room:a");
    await here.event("privilege_changed");
    expect(await call(here)).toBe("privilege_violation");
    expect(await call(there)).toBe("ack");
  });

  test("goes the way its verb says, to a level there is", async () => {
    await (await enter(server, "steady", { topic: "room:a" })).leave();
    await decide("promote", "steady");
    expect((await decide("promote", "steady", "level=restricted")).status).toBe(400);
    expect((await decide("demote", "steady", "level=admin")).status).toBe(400);
    expect(await levelAtJoin("steady", "room:a")).toBe("full");
  });
});

test("[X1-10.3-2] only an admin token promotes, and only who was ever here", async () => {
  await (await enter(server, "subject", { topic: "room:a" })).leave();
  const path = "/admin/participants/subject/promote";
  expect((await server.call("POST", path)).status).toBe(401);
  const own = await server.token({ sub: "subject", topics: ["**"], level: "full" });
  const { status, body } = await server.call("POST", path, own);
  expect(`${status} ${body.error.reason}`).toBe("403 admin_only");
  expect((await decide("promote", "nobody")).status).toBe(404);
  expect((await decide("promote", "subject", "topic=room:never")).status).toBe(404);
  expect((await decide("promote", "two%20words")).status).toBe(400);
  expect((await server.call("GET", path, admin)).status).toBe(405);
  expect(await levelAtJoin("subject", "room:a")).toBe("responder");
});
