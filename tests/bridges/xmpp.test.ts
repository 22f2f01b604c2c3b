// XMPP against Debian's prosody: real accounts in a real multi-user chat.
import { randomUUID } from "node:crypto";
import { createXmppPlatform } from "@mcpx/bridges";
// @ts-expect-error: the library brings no types
import * as library from "@xmpp/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { XmppLibrary } from "../../packages/bridges/src/platforms/xmpp-library.ts";
import { startBridgedRoom } from "./support/bridged-room.ts";
import { startProxy } from "./support/cuttable-proxy.ts";
import { platformCases } from "./support/platform-cases.ts";
import { domain, type Prosody, startProsody } from "./support/prosody.ts";
import { createXmppBench, enterChat, xmppUsers } from "./support/xmpp-bench.ts";

const { xml } = library as XmppLibrary;
let prosody: Prosody;
beforeAll(async () => {
  prosody = await startProsody(xmppUsers);
});
afterAll(() => prosody.stop());
const createBench = () => createXmppBench(prosody.port);

platformCases("[X0-2.1-7]", createBench);

test("[X0-2.1-7] [B-BRIDGE-1] a nick is nobody: who takes a linked person's nick decides nothing", async () => {
  const bench = await createBench();
  const { kind, channel } = bench;
  const room = await startBridgedRoom({ kind, channel, open: bench.open });
  const alice = await bench.person("alice");
  await alice.tell(`link ${await room.code("alice", "full")}`);
  await expect.poll(() => alice.heard().join("\n")).toContain("You are alice here");
  room.propose("dock 1");
  await expect.poll(() => bench.shown()[0]?.card).toBeDefined();
  const card = bench.shown()[0]?.card ?? "";
  const mallory = await enterChat(prosody.port, "mallory", channel, "Alice");
  await mallory.send(
    xml("message", { type: "groupchat", to: channel, id: randomUUID() }, xml("body", {}, `approve ${card}`)),
  );
  await expect.poll(() => mallory.privately.join("\n")).toContain("You are not linked");
  expect(room.moves).toEqual([]);
  await alice.press("approve", card);
  await expect.poll(() => room.moves).toEqual(["dock 1"]);
});

test("a password goes to nobody without TLS, save on loopback", async () => {
  const proxy = await startProxy(prosody.port);
  onTestFinished(() => proxy.close());
  const platform = createXmppPlatform({
    // This machine by another name than loopback's.
    service: `xmpp://0.0.0.0:${proxy.port}`,
    domain,
    username: "mcpx",
    password: () => expect.unreachable("the password was asked for"),
    nick: "mcpx",
    channels: [],
  });
  const nobody = { said: async () => {}, pressed: async () => {}, failed: () => {} };
  await expect(platform.start(nobody)).rejects.toThrow(/no TLS/);
});
