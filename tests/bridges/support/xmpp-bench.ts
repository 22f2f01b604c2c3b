// People with XMPP clients of their own in a real multi-user chat, whichever server has it.
import { randomUUID } from "node:crypto";
import { createXmppPlatform, type Verb } from "@mcpx/bridges";
// @ts-expect-error: the library brings no types
import * as library from "@xmpp/client";
import { onTestFinished } from "vitest";
import {
  declineResumption,
  type XmlElement,
  type XmppLibrary,
} from "../../../packages/bridges/src/platforms/xmpp-library.ts";
import { startProxy } from "./cuttable-proxy.ts";
import type { PlatformBench, Shown } from "./platform-cases.ts";
import { chatService, domain, passwordOf } from "./prosody.ts";

const { client, xml } = library as XmppLibrary;

/** Accounts that the server must have. */
export const xmppUsers = ["mcpx", "alice", "carol", "mallory", "dora", "watcher"];

const mucUser = "http://jabber.org/protocol/muc#user";

interface Seat {
  /** In the chat, by id; corrections in their place. */
  readonly messages: Map<string, { from: string; text: string }>;
  readonly privately: string[];
  send(stanza: XmlElement): Promise<void>;
}

/** Somebody with a client of their own, in the chat under their name or another. */
export async function enterChat(port: number, user: string, chat: string, nick = user): Promise<Seat> {
  const entity = client({
    service: `xmpp://127.0.0.1:${port}`,
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

export async function createXmppBench(port: number): Promise<PlatformBench> {
  const channel = `${randomUUID()}@${chatService}`;
  const proxy = await startProxy(port);
  onTestFinished(() => proxy.close());
  const watcher = await enterChat(port, "watcher", channel);
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
      const seat = await enterChat(port, name, channel);
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
