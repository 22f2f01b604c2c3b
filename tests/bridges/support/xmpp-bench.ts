// People with XMPP clients of their own in a real multi-user chat, whichever server has it.
import { randomUUID } from "node:crypto";
import { createXmppPlatform, type Verb } from "@mcpx/bridges";
// @ts-expect-error: the library brings no types
import * as library from "@xmpp/client";
import { expect, onTestFinished } from "vitest";
import {
  declineResumption,
  type XmlElement,
  type XmppLibrary,
} from "../../../packages/bridges/src/platforms/xmpp-library.ts";
import type { PlatformBench, Shown } from "./platform-cases.ts";
import { bridgeService, chatService, domain, passwordOf } from "./prosody.ts";
import type { ChatServer } from "./start-server.ts";
import { startXmppWire } from "./xmpp-wire.ts";

const { client } = library as XmppLibrary;
export const { xml } = library as XmppLibrary;

/** Accounts that the server must have. */
export const xmppUsers = ["mcpx", "alice", "carol", "mallory", "dora", "watcher"];

const mucUser = "http://jabber.org/protocol/muc#user";

interface Seen {
  from: string;
  text: string;
  /** As the chat has named it. */
  given: string | undefined;
  /** The name of what it answers. */
  answers: string | undefined;
}

interface RoomConnection {
  /** In the chat, by id; corrections in their place. */
  readonly messages: Map<string, Seen>;
  readonly privately: string[];
  send(stanza: XmlElement): Promise<void>;
}

/** Somebody with a client of their own, in the chat under their name or another. */
export async function enterChat(
  port: number,
  user: string,
  chat: string,
  nick = user,
): Promise<RoomConnection> {
  const entity = client({
    service: `xmpp://127.0.0.1:${port}`,
    domain,
    resource: randomUUID(),
    credentials: (authenticate) =>
      authenticate({ username: user, password: passwordOf(user) }, "SCRAM-SHA-1"),
  });
  declineResumption(entity);
  entity.on("error", () => {});
  const roomConnection: RoomConnection = {
    messages: new Map(),
    privately: [],
    send: (stanza) => entity.send(stanza),
  };
  const inside = Promise.withResolvers<void>();
  entity.on("stanza", (stanza) => {
    const { from = "", type, id = "" } = stanza.attrs;
    const codes = stanza.getChild("x", mucUser)?.getChildren("status") ?? [];
    if (stanza.name === "presence" && codes.some(({ attrs }) => attrs.code === "110")) inside.resolve();
    const text = stanza.getChildText("body");
    if (stanza.name !== "message" || text === null) return;
    if (type === "chat") roomConnection.privately.push(text);
    if (type !== "groupchat") return;
    const replaced = stanza.getChild("replace", "urn:xmpp:message-correct:0")?.attrs.id;
    const given = stanza.getChild("stanza-id", "urn:xmpp:sid:0")?.attrs.id;
    const answers = stanza.getChild("reply", "urn:xmpp:reply:0")?.attrs.id;
    const before = roomConnection.messages.get(replaced ?? "") ?? { given, answers };
    roomConnection.messages.set(replaced ?? id, { ...before, from: from.split("/")[1] ?? "", text });
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
  return roomConnection;
}

/** The bridge has an account, or is a component of the server. */
export async function createXmppBench(
  { port, componentPort }: ChatServer,
  isComponent = false,
): Promise<PlatformBench> {
  const channel = `${randomUUID()}@${chatService}`;
  const wire = await startXmppWire(isComponent ? componentPort : port);
  onTestFinished(() => wire.close());
  const own = isComponent ? bridgeService : domain;
  const passed = new Map<number, () => void>();
  const speakers = new Map<string, (text: string) => Promise<void>>();
  const watcher = await enterChat(port, "watcher", channel);
  const seen = () => [...watcher.messages];
  const givenOf = (words: string) => seen().find(([, { text }]) => text.includes(words))?.[1].given;
  const shown = ({ text, answers }: Seen): Shown => {
    const card = /write: approve ([0-9a-z]+)/.exec(text)?.[1];
    return {
      text,
      answers: seen().find(([, { given }]) => given !== undefined && given === answers)?.[1].text,
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
        service: `xmpp://127.0.0.1:${wire.port}`,
        domain: own,
        isComponent,
        username: "mcpx",
        password: () => passwordOf("mcpx"),
        nick: "mcpx",
        channels: [channel],
      }),
    async person(name, shownAs = name) {
      const roomConnection = await enterChat(port, name, channel, shownAs);
      const inChat = (text: string, ...more: XmlElement[]) =>
        roomConnection.send(
          xml(
            "message",
            { type: "groupchat", to: channel, id: randomUUID() },
            xml("body", {}, text),
            ...more,
          ),
        );
      speakers.set(name, inChat);
      const replyTo = (id: string) => xml("reply", { xmlns: "urn:xmpp:reply:0", to: `${channel}/mcpx`, id });
      return {
        key: `${name}@${domain}`,
        async say(text) {
          await inChat(text);
          // Of two people whose words are under way at once nobody knows who is first.
          await expect.poll(() => seen().some(([, one]) => one.text === text), { interval: 5 }).toBe(true);
        },
        reply: (text, to) => inChat(text, replyTo(givenOf(to) ?? "never-there")),
        async edit(from, to) {
          const [id, { answers = "" }] = seen().find(([, { text }]) => text === from) ?? ["", {}];
          const replaced = xml("replace", { xmlns: "urn:xmpp:message-correct:0", id });
          // A correction has everything that the message had.
          await inChat(to, replaced, replyTo(answers));
        },
        tell: (text) =>
          roomConnection.send(xml("message", { type: "chat", to: `mcpx@${own}` }, xml("body", {}, text))),
        press: (verb: Verb, card: string) => inChat(`${verb} ${card}`),
        heard: () => roomConnection.privately,
      };
    },
    shown: () => [...watcher.messages.values()].filter(({ from }) => from === "mcpx").map(shown),
    /** The server numbers messages itself: what has a number once comes again from the wire. */
    async deliver(name, number, text) {
      const again = passed.get(number);
      if (again !== undefined) return again();
      const coming = wire.passed(text);
      await speakers.get(name)?.(text);
      passed.set(number, await coming);
    },
    limits: {
      // XMPP has no word for how long to wait: the engine's own first pause.
      waitMs: 500,
      set(isOn) {
        wire.isTooMuch = isOn;
      },
      refused: () => wire.refused,
    },
    cut: async (isDown) => wire.cut(isDown),
  };
}
