// XMPP against Debian's prosody: real accounts in a real multi-user chat.
import { randomUUID } from "node:crypto";
import { createXmppPlatform, type Verb } from "@mcpx/bridges";
// @ts-expect-error: the library brings no types
import * as library from "@xmpp/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import {
  declineResumption,
  type XmlElement,
  type XmppLibrary,
} from "../../packages/bridges/src/platforms/xmpp-library.ts";
import { startBridgedRoom } from "./support/bridged-room.ts";
import { startProxy } from "./support/cuttable-proxy.ts";
import { type PlatformBench, platformCases, type Shown } from "./support/platform-cases.ts";
import { chatService, domain, type Prosody, passwordOf, startProsody } from "./support/prosody.ts";

const { client, xml } = library as XmppLibrary;
const people = ["alice", "carol", "mallory", "dora", "watcher"];
let prosody: Prosody;
beforeAll(async () => {
  prosody = await startProsody(["mcpx", ...people]);
});
afterAll(() => prosody.stop());

const mucUser = "http://jabber.org/protocol/muc#user";

interface Seat {
  /** In the chat, by id; corrections in their place. */
  readonly messages: Map<string, { from: string; text: string }>;
  readonly privately: string[];
  send(stanza: XmlElement): Promise<void>;
}

/** Somebody with a client of their own, in the chat under their name or another. */
async function enterChat(user: string, chat: string, nick = user): Promise<Seat> {
  const entity = client({
    service: `xmpp://127.0.0.1:${prosody.port}`,
    domain,
    resource: randomUUID(),
    credentials: (authenticate) =>
      authenticate({ username: user, password: passwordOf(user) }, "SCRAM-SHA-1"),
  });
  declineResumption(entity);
  entity.on("error", () => {});
  const seat: Seat = { messages: new Map(), privately: [], send: (stanza) => entity.send(stanza) };
  const inside = Promise.withResolvers<void>();
  entity.on("stanza", (stanza) => {
    const { from = "", type, id = "" } = stanza.attrs;
    const codes = stanza.getChild("x", mucUser)?.getChildren("status") ?? [];
    if (stanza.name === "presence" && codes.some(({ attrs }) => attrs.code === "110")) inside.resolve();
    const text = stanza.getChildText("body");
    if (stanza.name !== "message" || text === null) return;
    if (type === "chat") seat.privately.push(text);
    if (type !== "groupchat") return;
    const replaced = stanza.getChild("replace", "urn:xmpp:message-correct:0")?.attrs.id;
    seat.messages.set(replaced ?? id, { from: from.split("/")[1] ?? "", text });
  });
  await entity.start();
  onTestFinished(async () => {
    entity.reconnect.stop();
    await entity.stop();
  });
  await entity.send(xml("presence"));
  await entity.send(
    xml("presence", { to: `${chat}/${nick}` }, xml("x", { xmlns: "http://jabber.org/protocol/muc" })),
  );
  await inside.promise;
  return seat;
}

async function createBench(): Promise<PlatformBench> {
  const channel = `${randomUUID()}@${chatService}`;
  const proxy = await startProxy(prosody.port);
  onTestFinished(() => proxy.close());
  const watcher = await enterChat("watcher", channel);
  const shown = ({ text }: { text: string }): Shown => {
    const card = /write: approve ([0-9a-z]+)/.exec(text)?.[1];
    return {
      text,
      card,
      verbs: card === undefined ? [] : ["approve", "reject"],
      links: text.match(/https?:\S+/g) ?? [],
    };
  };
  return {
    kind: "xmpp",
    channel,
    open: () =>
      createXmppPlatform({
        service: `xmpp://127.0.0.1:${proxy.port}`,
        domain,
        username: "mcpx",
        password: () => passwordOf("mcpx"),
        nick: "mcpx",
        channels: [channel],
      }),
    async person(name) {
      const seat = await enterChat(name, channel);
      const say = (text: string) =>
        seat.send(
          xml("message", { type: "groupchat", to: channel, id: randomUUID() }, xml("body", {}, text)),
        );
      return {
        key: `${name}@${domain}`,
        say,
        tell: (text) =>
          seat.send(xml("message", { type: "chat", to: `mcpx@${domain}` }, xml("body", {}, text))),
        press: (verb: Verb, card: string) => say(`${verb} ${card}`),
        heard: () => seat.privately,
      };
    },
    shown: () => [...watcher.messages.values()].filter(({ from }) => from === "mcpx").map(shown),
    cut: async (isDown) => proxy.cut(isDown),
  };
}

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
  const mallory = await enterChat("mallory", channel, "Alice");
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
  const nobody = { said: async () => {}, pressed: async () => {} };
  await expect(platform.start(nobody)).rejects.toThrow(/no TLS/);
});
