// Nobody takes all the places: connections, topics and sessions are bounded for one principal, whatever tokens it has,
// and the last of them are for admins. Each attack has an honest neighbour who works before, during and after.
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { enter, enterWith, refusedOnConnect } from "../support/enter.ts";
import { initialize } from "../support/initialize.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";
import { roomEndpointUrl } from "./as-mcp/support/room-endpoint.ts";

let server: TestServer;
const start = async (options: TestServerOptions) => {
  server = await startTestServer(options);
};
afterEach(() => server.stop());

const wide = { handshakesPerSecond: 100_000 };

test("connections of one principal are bounded over all its tokens and topics; its neighbour comes and goes", async () => {
  await start({ limits: { ...wide, connectionsPerPrincipalMax: 3 } });
  const neighbour = await enter(server, "neighbour");
  const clients = [];
  for (const topic of ["a", "b", "c"]) clients.push(await enter(server, "greedy", { topic }));
  const token = await server.token({ sub: "greedy", topics: ["**"] });
  const refusal = await refusedOnConnect(server, token, { topic: "d" });
  expect([refusal.message, refusal.headers["retry-after"]]).toEqual(["503 too_many_connections", "5"]);
  expect(await neighbour.outcome(neighbour.say("hello"))).toBe("ack");
  await (await enter(server, "newcomer")).leave();
  // Below the bound it goes on.
  await clients[0]?.leave();
  await vi.waitFor(() => enterWith(server, token, { topic: "d" }), 5_000);
  expect(await neighbour.outcome(neighbour.say("still here"))).toBe("ack");
});

test("handshakes whose peers left before their turn came take no place, however many they are", async () => {
  await start({ limits: { ...wide, connectionsMax: 60 } });
  const neighbour = await enter(server, "neighbour");
  const { port } = new URL(server.url);
  const lines = [
    "GET /v0/ws HTTP/1.1",
    `Host: 127.0.0.1:${port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
  ];
  const handshake = [
    ...lines,
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "",
    "",
  ];
  for (let round = 0; round < 4; round += 1) {
    const sockets = Array.from({ length: 200 }, () => connect(Number(port), "127.0.0.1"));
    await Promise.all(
      sockets.map(async (socket) => {
        socket.on("error", () => {});
        await once(socket, "connect");
        // Reset once it is with the system: all of them ask for a turn at the same moment.
        socket.write(handshake.join("\r\n"), () => socket.resetAndDestroy());
        await once(socket, "close");
      }),
    );
  }
  await enter(server, "newcomer");
  expect(await neighbour.outcome(neighbour.say("still here"))).toBe("ack");
});

test("a refused handshake gives the principal its place back", async () => {
  await start({ limits: { ...wide, connectionsPerPrincipalMax: 1, topicsMax: 1 } });
  const token = await server.token({ sub: "unlucky", topics: ["**"] });
  await enter(server, "first", { topic: "a" });
  for (let i = 0; i < 5; i += 1) {
    expect((await refusedOnConnect(server, token, { topic: `new-${i}` })).message).toBe(
      "503 too_many_topics",
    );
  }
  await enterWith(server, token, { topic: "a" });
});

test("connections at the MCP endpoints of rooms are connections too", async () => {
  await start({ limits: { ...wide, connectionsPerPrincipalMax: 2 } });
  const token = await server.token({ sub: "greedy", topics: ["**"], level: "full" });
  const open = (room: string) => initialize(roomEndpointUrl(server, room), token);
  expect([await open("a"), await open("b"), await open("c")]).toEqual([200, 200, 503]);
  await enter(server, "neighbour", { topic: "c" });
});

test("the last connections are for admins, who always come in", async () => {
  await start({ limits: { ...wide, connectionsMax: 20 } });
  for (let i = 0; i < 19; i += 1) await enter(server, `guest-${i}`);
  const token = await server.token({ sub: "guest-19", topics: ["**"], level: "full" });
  expect((await refusedOnConnect(server, token, { topic: "room:test" })).message).toBe(
    "503 too_many_connections",
  );
  const admin = await enterWith(server, await server.adminToken(), { topic: "room:test" });
  // With the last place gone, there is none for anybody.
  const second = await server.token({ sub: "admin-2", topics: ["**"], admin: true });
  expect((await refusedOnConnect(server, second, { topic: "room:test" })).message).toBe(
    "503 too_many_connections",
  );
  await admin.leave();
});

test("topics that one principal makes are bounded; others make theirs, and the last are for admins", async () => {
  await start({ limits: { ...wide, topicsMax: 20, topicsPerPrincipalMax: 5 } });
  const make = async (sub: string, topic: string, admin = false) => {
    const token = await server.token({ sub, topics: ["**"], level: "full", ...(admin && { admin }) });
    try {
      await (await enterWith(server, token, { topic })).leave();
      return "made";
    } catch (error) {
      return String((error as Error).message);
    }
  };
  const greedy = [];
  for (let i = 0; i < 7; i += 1) greedy.push(await make("greedy", `lab/${i}`));
  expect(greedy).toEqual([...Array(5).fill("made"), ...Array(2).fill("503 too_many_topics")]);
  // Those that are there are open to it, as before.
  expect(await make("greedy", "lab/0")).toBe("made");
  expect(await make("neighbour", "desk")).toBe("made");
  // A restart gives nobody new places.
  await server.restart();
  expect(await make("greedy", "lab/9")).toBe("503 too_many_topics");
  expect(await make("neighbour", "shelf")).toBe("made");
  expect(await make("greedy", "desk")).toBe("made");
  for (let i = 0; i < 12; i += 1) expect(await make(`other-${i}`, `other/${i}`)).toBe("made");
  expect(await make("late", "late")).toBe("503 too_many_topics");
  expect(await make("admin", "admins", true)).toBe("made");
  expect(await make("admin", "more", true)).toBe("503 too_many_topics");
});

test("the last MCP sessions are for admins", async () => {
  await start({ limits: { ...wide, mcpSessionsMax: 20 } });
  const open = async (sub: string, admin = false) => {
    const token = await server.token({ sub, topics: [], tools: ["**"], ...(admin && { admin }) });
    return initialize(`${server.url}/mcp`, token);
  };
  for (let i = 0; i < 19; i += 1) expect(await open(`guest-${i}`)).toBe(200);
  expect(await open("guest-19")).toBe(429);
  expect(await open("admin", true)).toBe(200);
});
