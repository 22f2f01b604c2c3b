import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { defaultLimits, McpxError } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { createListener } from "../http/listener.ts";
import { createLogger } from "../logging/log.ts";
import { proofOf } from "./peer-cipher.ts";
import { firstOwnKind, type PeerHandler, type PeerLink } from "./peer-link.ts";
import { createPeers, peerPath } from "./peers.ts";

const secret = randomBytes(32);

interface Options {
  key?: Uint8Array;
  handler?: Partial<PeerHandler>;
  limits?: Parameters<typeof createPeers>[0]["limits"];
}

/** A gateway as far as its peers can tell. */
async function startGateway(number: number, { key = secret, handler = {}, limits }: Options = {}) {
  const logged: string[] = [];
  const log = createLogger({ level: "debug", destination: { write: (line) => void logged.push(line) } });
  const peers = createPeers({
    number: () => number,
    secret: key,
    log,
    limits,
  });
  peers.serve({
    answer: async () => {
      throw new McpxError("not_found");
    },
    take: () => {},
    ...handler,
  });
  const listener = createListener({ host: "127.0.0.1", port: 0, limits: defaultLimits, log });
  listener.onUpgrade(peerPath, peers.accept);
  const { url } = await listener.start([]);
  onTestFinished(async () => {
    peers.close();
    await listener.close({ graceMs: 0 });
  });
  return { number, address: url, peers, logged };
}

test("questions are answered in both directions over one connection, and messages keep their order", async () => {
  const taken: string[] = [];
  let back: PeerLink | undefined;
  const bob = await startGateway(2, {
    handler: {
      async answer(link, verb, body) {
        back = link;
        return { verb, body, from: link.peer };
      },
      take: (_link, kind, message) => void taken.push(`${kind} ${message}`),
    },
  });
  const ada = await startGateway(1, { handler: { answer: async (link) => `I am 1, you are ${link.peer}` } });
  const link = await ada.peers.to(bob);
  expect(await ada.peers.to(bob)).toBe(link);
  for (let i = 0; i < 100; i += 1) link.send(firstOwnKind + (i % 3), Buffer.from(String(i)));
  expect(await link.ask("hello", { a: [1] })).toEqual({ verb: "hello", body: { a: [1] }, from: 1 });
  expect(taken).toEqual(Array.from({ length: 100 }, (_, i) => `${firstOwnKind + (i % 3)} ${i}`));
  expect(await (back as PeerLink).ask("who", null)).toBe("I am 1, you are 2");
});

test("an error of ours comes as it is; of any other only that there was one", async () => {
  const bob = await startGateway(2, {
    handler: {
      answer: async (_link, verb) => {
        if (verb === "ours") throw new McpxError("rate_limited", "slowly", { retryAfterMs: 70 });
        throw new Error("a path of this machine");
      },
    },
  });
  const link = await (await startGateway(1)).peers.to(bob);
  await expect(link.ask("ours", 0)).rejects.toMatchObject({
    code: "rate_limited",
    detail: "slowly",
    retryAfterMs: 70,
  });
  const other = link.ask("other", 0);
  await expect(other).rejects.toMatchObject({ code: "internal" });
  await expect(other).rejects.not.toThrow("path");
});

test("what is asked of a gateway that is lost is refused, and the next question makes a new connection", async () => {
  const bob = await startGateway(2, { handler: { answer: async (link) => link.cut("gone") } });
  const ada = await startGateway(1);
  const link = await ada.peers.to(bob);
  await expect(link.ask("die", 0)).rejects.toMatchObject({ code: "draining" });
  await link.ended;
  expect(link.isOpen).toBe(false);
  await expect(link.ask("again", 0)).rejects.toMatchObject({ code: "draining" });
  expect(await ada.peers.to(bob)).not.toBe(link);
  await expect(ada.peers.to({ number: 3, address: "http://127.0.0.1:1" })).rejects.toMatchObject({
    code: "draining",
  });
});

test("a gateway of another cluster is refused on both sides, and one that means another gateway", async () => {
  const [ada, bob] = [await startGateway(1), await startGateway(2)];
  const mallory = await startGateway(2, { key: randomBytes(32) });
  await expect(mallory.peers.to(ada)).rejects.toMatchObject({ code: "draining" });
  await expect(ada.peers.to(mallory)).rejects.toMatchObject({ code: "draining" });
  await expect(ada.peers.to({ ...bob, number: 7 })).rejects.toMatchObject({ code: "draining" });
  // Control: the same with the right secret and number.
  expect((await ada.peers.to(bob)).isOpen).toBe(true);
});

/** The handshake of a gateway, made by hand. */
async function dialByHand(address: string, to: number, version = 1) {
  const hello = JSON.stringify({ version, from: 1, to, nonce: "n" });
  const socket = new WebSocket(new URL(peerPath, address.replace("http", "ws")), {
    headers: {
      "mcpx-peer": Buffer.from(hello).toString("base64url"),
      "mcpx-peer-proof": proofOf(secret, hello),
    },
  });
  onTestFinished(() => socket.terminate());
  const status = await Promise.race([
    once(socket, "open").then(() => 101),
    once(socket, "unexpected-response").then(([, response]) => response.statusCode as number),
  ]);
  return { socket, status };
}

test("a handshake that is replayed gets a connection on which nothing it can send is accepted", async () => {
  const bob = await startGateway(2);
  const { socket, status } = await dialByHand(bob.address, 2);
  expect(status).toBe(101);
  socket.send(randomBytes(64));
  await once(socket, "close");
  expect(bob.logged.some((line) => line.includes("is not the next one"))).toBe(true);
});

test("a handshake that is replayed broken changes nothing about the next one", async () => {
  const [ada, bob] = [await startGateway(1), await startGateway(2)];
  const hello = JSON.stringify({ version: 1, from: 3, to: 2, nonce: "n" });
  const broken = request(new URL(peerPath, bob.address), {
    headers: {
      ...{ connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
      "sec-websocket-key": "no key",
      "mcpx-peer": Buffer.from(hello).toString("base64url"),
      "mcpx-peer-proof": proofOf(secret, hello),
    },
  });
  broken.end();
  const [answer] = await once(broken, "response");
  expect(answer.statusCode).toBe(400);
  answer.resume();
  expect((await ada.peers.to(bob)).isOpen).toBe(true);
});

test("a peer of another version is refused with a reason", async () => {
  const bob = await startGateway(2);
  expect((await dialByHand(bob.address, 2, 9)).status).toBe(400);
});

test("a peer that sends too much at once, does not read, or is silent is cut off", async () => {
  const limits = { messageBytesMax: 1_000, queueBytesMax: 10_000, aliveEveryMs: 20, silentMs: 200 };
  const bob = await startGateway(2, { limits });
  const ada = await startGateway(1, { limits: { ...limits, messageBytesMax: 100_000 } });
  const large = await ada.peers.to(bob);
  large.send(firstOwnKind, Buffer.alloc(5_000));
  await large.ended;
  // Control: one that is not silent is kept for longer.
  const kept = await ada.peers.to(bob);
  const { socket } = await dialByHand(bob.address, 2);
  await once(socket, "close");
  expect(bob.logged.some((line) => line.includes("it was silent"))).toBe(true);
  expect(kept.isOpen).toBe(true);
  // In one turn: nothing of it is read meanwhile, and the system's own buffers are full at some point.
  for (let i = 0; i < 50_000 && kept.isOpen; i += 1) kept.send(firstOwnKind, Buffer.alloc(900));
  expect(kept.isOpen).toBe(false);
});

test("a message that its handler does not know ends the connection", async () => {
  const bob = await startGateway(2, {
    handler: {
      take: (_link, kind) => {
        if (kind !== firstOwnKind) throw new Error(`a message of the unknown kind ${kind}`);
      },
    },
  });
  const link = await (await startGateway(1)).peers.to(bob);
  link.send(firstOwnKind, Buffer.from("known"));
  // Answered: the message before it was taken.
  await expect(link.ask("x", 0)).rejects.toMatchObject({ code: "not_found" });
  link.send(200, Buffer.from("unknown"));
  await link.ended;
  expect(bob.logged.some((line) => line.includes("unknown kind 200"))).toBe(true);
});
