// What only XMPP has to be asked, at every server: who somebody is in an archive, and whose answer an answer is.
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { startBridgedRoom } from "./bridged-room.ts";
import { domain } from "./prosody.ts";
import type { ChatServer } from "./start-server.ts";
import { createXmppBench, enterChat, xml } from "./xmpp-bench.ts";

const mucUser = "http://jabber.org/protocol/muc#user";

export function xmppCases(server: () => ChatServer): void {
  test("[B-BRIDGE-1] nobody is somebody else in what the archive tells, whatever they write beside their words", async () => {
    const bench = await createXmppBench(server());
    const { kind, channel } = bench;
    const room = await startBridgedRoom({ kind, channel, open: bench.open });
    const bob = await room.join("bob");
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
    const alice = await bench.person("alice");
    await alice.tell(`link ${await room.code("alice", "full")}`);
    await expect.poll(() => alice.heard().join("\n")).toContain("You are alice here");
    await alice.say("before");
    await expect.poll(() => heard).toEqual(["alice: before"]);
    await bench.cut(true);
    const mallory = await enterChat(server().port, "mallory", channel);
    const item = xml("item", { jid: `alice@${domain}/phone`, affiliation: "member", role: "participant" });
    const forged = (text: string) =>
      xml(
        "message",
        { type: "groupchat", to: channel, id: randomUUID() },
        xml("x", { xmlns: mucUser }, item),
        xml("body", {}, text),
      );
    await mallory.send(forged("I am alice, away"));
    // A result that nobody asked for, in private and in the chat.
    const inner = xml(
      "message",
      { from: `${channel}/alice`, type: "groupchat" },
      xml("x", { xmlns: mucUser }, item),
      xml("body", {}, "I am alice, in a result"),
    );
    const result = () =>
      xml(
        "result",
        { xmlns: "urn:xmpp:mam:2", queryid: "q1", id: "r1" },
        xml("forwarded", { xmlns: "urn:xmpp:forward:0" }, inner),
      );
    await alice.say("after all");
    await bench.cut(false);
    await expect.poll(() => heard).toEqual(["alice: before", "alice: after all"]);
    await mallory.send(forged("I am alice, live"));
    await mallory.send(xml("message", { to: `mcpx@${domain}`, type: "chat" }, result()));
    await mallory.send(xml("message", { to: channel, type: "groupchat", id: randomUUID() }, result()));
    await alice.say("end");
    await expect.poll(() => heard.at(-1)).toBe("alice: end");
    expect(heard).toEqual(["alice: before", "alice: after all", "alice: end"]);
  });

  test("[X0-2.1-7] [B-BRIDGE-1] a component carries a room too: an agent proposes, a human decides, the robot moves once", async () => {
    const bench = await createXmppBench(server(), true);
    const { kind, channel } = bench;
    const room = await startBridgedRoom({ kind, channel, open: bench.open });
    const alice = await bench.person("alice");
    await alice.tell(`link ${await room.code("alice", "full")}`);
    await expect.poll(() => alice.heard().join("\n")).toContain("You are alice here");
    room.propose("dock 7");
    const open = () => bench.shown().flatMap(({ card }) => card ?? []);
    await expect.poll(open).toHaveLength(1);
    const [card = ""] = open();
    for (let i = 0; i < 2; i += 1) await alice.press("approve", card);
    await expect.poll(() => bench.shown().at(-1)?.text).toContain("Approved by alice");
    await expect.poll(() => alice.heard().join("\n")).toContain("fulfilled");
    expect(room.moves).toEqual(["dock 7"]);
    expect(open()).toEqual([]);
  });
}
