// Who gets a connection in a room by its MCP endpoint, and how connections end.
import { expect, onTestFinished, test } from "vitest";
import { join, rejection, startHouse, textOf, topic, wideLimits } from "../../client/support/house.ts";
import { kitchenV1 } from "../../client/support/sdk-servers.ts";
import { enter } from "../../support/enter.ts";
import type { Seen } from "../../support/test-client.ts";
import type { TestServer } from "../../support/test-server.ts";
import { kinds, openRoomEndpoint, openRoomEndpointWith, roomEndpointUrl } from "./support/room-endpoint.ts";

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } },
};
const ping = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "presence.get" } };

async function post(
  url: string,
  token: string | undefined,
  body: object,
  headers: Record<string, string> = {},
) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

async function openSession(url: string, token: string) {
  const { status, headers } = await post(url, token, initialize);
  expect(status).toBe(200);
  const session = headers.get("mcp-session-id") ?? "";
  return { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" };
}

async function connectionsOf(house: TestServer, id: string): Promise<number> {
  const { body } = await house.call("GET", "/admin/connections", await house.adminToken());
  return body.connections.filter(({ participantId }: Seen) => participantId === id).length;
}

const tokenFor = (house: TestServer, sub = "alice", topics = [topic]) =>
  house.token({ sub, topics, level: "full" });

test("[B-ROOM-1] without a token it says where one can be had, for this very room", async () => {
  const house = await startHouse();
  const { status, headers } = await post(roomEndpointUrl(house), undefined, initialize);
  expect(status).toBe(401);
  const [, where = ""] = /resource_metadata="([^"]+)"/.exec(headers.get("www-authenticate") ?? "") ?? [];
  expect(new URL(where).origin).toBe(house.url);
  const metadata = (await (await fetch(where)).json()) as Seen;
  expect(metadata.resource).toBe(`${house.url}/rooms/${encodeURIComponent(topic)}/mcp`);
});

test("[B-ROOM-1] a foreign origin is refused as at every address", async () => {
  const house = await startHouse();
  const { status } = await post(roomEndpointUrl(house), await tokenFor(house), initialize, {
    origin: "https://evil.example",
  });
  expect(status).toBe(403);
});

test("[B-ROOM-1] a room the token does not cover looks like one that is not there", async () => {
  const house = await startHouse({
    limits: wideLimits,
    gateway: { createTopics: "configured", topics: { [topic]: {}, "room:secret": {} } },
  });
  await enter(house, "bob", { topic: "room:secret" });
  const token = await tokenFor(house, "alice", [topic, "room:unknown"]);
  const answers = await Promise.all(
    ["room:secret", "room:nowhere", "room:unknown", "no/../such", "%00"].map(async (room) => {
      const { status, text } = await post(roomEndpointUrl(house, room), token, initialize);
      return JSON.stringify([status, JSON.parse(text).error]);
    }),
  );
  expect(new Set(answers).size).toBe(1);
  expect(answers[0]).toContain("there is no room with this name");
  expect((await post(roomEndpointUrl(house), token, initialize)).status).toBe(200);
  expect(await connectionsOf(house, "alice")).toBe(1);
});

test("[B-ROOM-1] topics with slashes are rooms too", async () => {
  const house = await startHouse();
  const room = "team/kitchen:1";
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice", { room });
  expect((await roomEndpoint.call("presence.get")).structuredContent.topic).toBe(room);
});

test("[B-ROOM-1] a session is good at its own room only, for its own principal, and not after a restart", async () => {
  const house = await startHouse();
  const token = await tokenFor(house, "alice", ["room:*"]);
  const headers = await openSession(roomEndpointUrl(house), token);
  expect((await post(roomEndpointUrl(house), token, ping, headers)).status).toBe(200);
  expect((await post(roomEndpointUrl(house, "room:other"), token, ping, headers)).status).toBe(404);
  expect((await post(`${house.url}/mcp`, token, ping, headers)).status).toBe(404);
  expect((await post(roomEndpointUrl(house), await tokenFor(house, "mallory"), ping, headers)).status).toBe(
    404,
  );
  await house.restart();
  expect((await post(roomEndpointUrl(house), token, ping, headers)).status).toBe(404);
  await openSession(roomEndpointUrl(house), token);
});

test("[B-ROOM-1] a connection goes when its last session ends", async () => {
  const house = await startHouse();
  const token = await tokenFor(house);
  const [one, two] = await Promise.all([
    openSession(roomEndpointUrl(house), token),
    openSession(roomEndpointUrl(house), token),
  ]);
  expect(await connectionsOf(house, "alice")).toBe(1);
  const end = (headers: Record<string, string>) =>
    fetch(roomEndpointUrl(house), {
      method: "DELETE",
      headers: { authorization: `Bearer ${token}`, ...headers },
    });
  await end(one);
  expect(await connectionsOf(house, "alice")).toBe(1);
  await end(two);
  await expect.poll(() => connectionsOf(house, "alice")).toBe(0);
});

test("[B-ROOM-1] a connection nobody uses goes after a while", async () => {
  const house = await startHouse({ limits: { ...wideLimits, mcpSessionIdleMs: 1_000 } });
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice");
  await roomEndpoint.call("presence.get");
  expect(await connectionsOf(house, "alice")).toBe(1);
  await expect.poll(() => connectionsOf(house, "alice")).toBe(0);
  expect((await roomEndpoint.call("presence.get")).structuredContent.you.id).toBe("alice");
});

for (const kind of kinds) {
  test(`[B-ROOM-1] a kick ends the ${kind} client's calls at once, and it gets no other connection`, async () => {
    const house = await startHouse();
    const oven = await join(house, "oven");
    const { server, waiting } = kitchenV1();
    await oven.serve(server);
    const roomEndpoint = await openRoomEndpoint(house, kind, "alice");
    const call = rejection(roomEndpoint.call("oven.wait"));
    await waiting;
    await house.call("DELETE", "/admin/participants/alice", await house.adminToken());
    expect((await call).message).toMatch(/removed you|ended/);
    expect((await rejection(roomEndpoint.call("presence.get"))).message).toContain("removed you");
    expect(await connectionsOf(house, "alice")).toBe(0);
    await house.call("POST", "/admin/participants/alice/promote", await house.adminToken());
    expect(textOf(await roomEndpoint.call("oven.echo", { text: "back" }))).toBe("back");
  });

  test(`[B-ROOM-1] a token revoked mid-session takes the ${kind} client's connection with it`, async () => {
    const house = await startHouse();
    const claims = { sub: "alice", topics: [topic], level: "full" } as const;
    const { token, jti } = await house.identity.tokens.mint(claims, { ttlMs: 60_000 });
    const roomEndpoint = await openRoomEndpointWith(house, kind, token);
    await roomEndpoint.call("presence.get");
    const own = await join(house, "alice");
    await house.call("DELETE", `/admin/tokens/${jti}`, await house.adminToken());
    await expect.poll(() => connectionsOf(house, "alice")).toBe(1);
    expect(await rejection(roomEndpoint.call("presence.get"))).toBeInstanceOf(Error);
    await own.say("my own token is good");
  });
}

test("[B-ROOM-1] tokens of one participant with other levels have connections of their own", async () => {
  const house = await startHouse();
  const levels = ["full", "restricted"] as const;
  const roomEndpoints = await Promise.all(
    levels.map((level) => openRoomEndpoint(house, "v2 modern", "alice", { level })),
  );
  const seen = await Promise.all(roomEndpoints.map((roomEndpoint) => roomEndpoint.call("presence.get")));
  expect(seen.map(({ structuredContent }) => structuredContent.you.privilege)).toEqual([...levels]);
});

test("[B-ROOM-1] connections are bounded for each principal; the one longest unused makes room", async () => {
  const house = await startHouse({ limits: { ...wideLimits, mcpSessionsPerPrincipalMax: 2 } });
  const rooms = ["room:1", "room:2", "room:3"];
  const roomEndpoints = await Promise.all(
    rooms.slice(0, 2).map((room) => openRoomEndpoint(house, "v2 modern", "alice", { room })),
  );
  for (const roomEndpoint of roomEndpoints) await roomEndpoint.call("presence.get");
  const third = await openRoomEndpoint(house, "v2 modern", "alice", { room: "room:3" });
  expect((await third.call("presence.get")).structuredContent.topic).toBe("room:3");
  expect(await connectionsOf(house, "alice")).toBe(2);
});

test("[B-ROOM-1] a session outlives its token: with a new one it has a new connection, and hears on", async () => {
  const house = await startHouse();
  const first = await house.identity.tokens.mint(
    { sub: "alice", topics: [topic], level: "full" },
    { ttlMs: 1_500 },
  );
  const second = await tokenFor(house);
  const headers = await openSession(roomEndpointUrl(house), first.token);
  await post(
    roomEndpointUrl(house),
    first.token,
    { jsonrpc: "2.0", method: "notifications/initialized" },
    headers,
  );
  expect((await post(roomEndpointUrl(house), second, ping, headers)).status).toBe(200);
  const listening = new AbortController();
  onTestFinished(() => listening.abort());
  const stream = await fetch(roomEndpointUrl(house), {
    headers: { authorization: `Bearer ${second}`, accept: "text/event-stream", ...headers },
    signal: listening.signal,
  });
  let heard = "";
  void (async () => {
    for await (const chunk of stream.body ?? []) heard += Buffer.from(chunk).toString();
  })().catch(() => {});
  await expect.poll(() => connectionsOf(house, "alice")).toBe(1);
  const list = { jsonrpc: "2.0", id: 3, method: "tools/list" };
  expect((await post(roomEndpointUrl(house), second, list, headers)).status).toBe(200);
  heard = "";
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  await expect.poll(() => heard).toContain("list_changed");
});

test("connections take memory of their principal's share; with none left it gets no other, and its neighbour does", async () => {
  const house = await startHouse({ limits: { ...wideLimits, heldBytesPerPrincipalMax: 1_200_000 } });
  const [alice, bob] = [await tokenFor(house, "alice", ["**"]), await tokenFor(house, "bob", ["**"])];
  const first = await openSession(roomEndpointUrl(house, "a"), alice);
  await openSession(roomEndpointUrl(house, "b"), alice);
  const refused = await post(roomEndpointUrl(house, "c"), alice, initialize);
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  await openSession(roomEndpointUrl(house, "c"), bob);
  // A connection that is given up is room for another.
  const end = { method: "DELETE", headers: { authorization: `Bearer ${alice}`, ...first } };
  expect((await fetch(roomEndpointUrl(house, "a"), end)).status).toBeLessThan(300);
  await expect
    .poll(async () => (await post(roomEndpointUrl(house, "c"), alice, initialize)).status)
    .toBe(200);
});
