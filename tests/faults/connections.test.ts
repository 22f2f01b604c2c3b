// A full house: past the limit strangers are told to come later, and those inside notice nothing.
import { expect, test } from "vitest";
import { TestClient } from "../support/test-client.ts";
import { type ChildServer, startChildServer } from "./support/child-server.ts";
import { openSocket, rawJoin } from "./support/raw-socket.ts";

const isSoak = process.env.MCPX_SOAK === "1";
const places = isSoak ? 5_000 : 1_000;
const rooms = 50;

let server: ChildServer;

async function fill(): Promise<{ tokens: string[]; sockets: Awaited<ReturnType<typeof rawJoin>>[] }> {
  const tokens = await server.tokens(
    "hall-*",
    Array.from({ length: places + 1 }, (_, i) => `guest-${i}`),
  );
  const sockets: Awaited<ReturnType<typeof rawJoin>>[] = [];
  for (let i = 0; i < places; i += 50) {
    sockets.push(
      ...(await Promise.all(
        tokens
          .slice(i, Math.min(i + 50, places))
          .map((token, n) => rawJoin(server.url, `hall-${(i + n) % rooms}`, token)),
      )),
    );
  }
  for (const { socket } of sockets) socket.resume();
  return { tokens, sockets };
}

test("[X0-9-4] past the limit a connection gets 503 and Retry-After; those inside go on", {
  timeout: 300_000,
}, async () => {
  // The last twentieth is for admins.
  const connectionsMax = Math.floor(places / 0.95);
  server = await startChildServer({ limits: { connectionsMax, handshakesPerSecond: 100_000 } });
  const { tokens, sockets } = await fill();
  expect(new Set(sockets.map(({ status }) => status))).toEqual(new Set([101]));

  const late = await rawJoin(server.url, `hall-${places % rooms}`, tokens[places] as string);
  expect(late.status).toBe(503);
  expect(late.head.toLowerCase()).toMatch(/retry-after: \d+/);
  expect(sockets.every(({ socket }) => !socket.destroyed)).toBe(true);

  // Control: one leaves, and the same stranger gets in.
  const [leaving] = sockets.splice(0, 1);
  leaving?.socket.destroy();
  let again = await rawJoin(server.url, `hall-${places % rooms}`, tokens[places] as string);
  while (again.status === 503)
    again = await rawJoin(server.url, `hall-${places % rooms}`, tokens[places] as string);
  expect(again.status).toBe(101);
  for (const { socket } of [...sockets, again, late]) socket.destroy();
});

test("[X0-9-4] a thousand half handshakes keep nobody out, and are ended by the clock", {
  timeout: 120_000,
}, async () => {
  server = await startChildServer({ limits: { handshakeMs: 5_000 } });
  const half = await Promise.all(Array.from({ length: 1_000 }, () => openSocket(server.url)));
  for (const socket of half) socket.write("GET /v0/ws?topic=hall HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgr");
  const [token] = await server.tokens("hall", ["guest"]);
  const guest = await TestClient.connect(server.url, token, { topic: "hall" });
  await guest.event("welcome");
  // In, while they are still hanging on; the oldest may have made room for whoever came last.
  expect(half.filter(({ closed }) => closed).length).toBeLessThan(5);
  await Promise.all(
    half.map(
      (socket) =>
        new Promise((resolve) => (socket.closed ? resolve(0) : socket.resume().once("close", resolve))),
    ),
  );
  expect(guest.closed).toBeUndefined();
  await guest.leave();
});
