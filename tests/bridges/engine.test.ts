// What the engine does by itself, whatever the platform: floods, gates, forgeries, links that end.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  createFixturePlatform,
  type FixturePlatform,
  fixtureChannel,
  otherChannel,
} from "../../packages/bridges/src/testing/fixture-platform.ts";
import { gateConfig, newKey } from "../gates/support/gate-room.ts";
import { connectSdk } from "../tree/support/sdk-callers.ts";
import { type BridgeSetup, bridgeName, startBridgedRoom, topic } from "./support/bridged-room.ts";

const alice = "alice@example.org";

function start(fixture: FixturePlatform, more: Partial<BridgeSetup> = {}) {
  return startBridgedRoom({ kind: "xmpp", channel: fixtureChannel, open: fixture.open, ...more });
}

async function link(
  room: Awaited<ReturnType<typeof start>>,
  fixture: FixturePlatform,
  user = alice,
  as = "alice",
) {
  await fixture.say(user, `link ${await room.code(as, "full")}`, { channel: "" });
}

const texts = ({ posts }: FixturePlatform) => posts.map(({ text }) => text);

test("[X0-14.4-2] a platform that is busy gets one summary instead of a flood, and every card", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  const bob = await room.join("bob");
  fixture.trouble = "busy";
  await bob.say("first");
  room.propose("dock 1");
  await expect.poll(() => fixture.refused).toBeGreaterThan(0);
  for (let i = 0; i < 120; i += 1) await bob.say(`flood ${i}`);
  fixture.trouble = "none";
  await expect.poll(() => texts(fixture).at(-1)).toContain("flood 119");
  const seen = texts(fixture);
  expect(seen.filter((text) => /\d+ messages of the room ops were left out/.test(text))).toHaveLength(1);
  expect(seen.filter((text) => text.includes("move"))).toHaveLength(1);
  const carried = seen.flatMap((text) => /flood (\d+)/.exec(text)?.[1] ?? []).map(Number);
  expect(carried).toEqual(carried.toSorted((a, b) => a - b));
  expect(carried.length).toBeLessThan(40);
  // Nothing is lost without being told.
  const leftOut = Number(/(\d+) messages of the room/.exec(seen.join("\n"))?.[1]);
  expect(leftOut + carried.length).toBe(120);
});

test("[X0-14.4-2] a channel is posted to no faster than its platform allows", async () => {
  const fixture = createFixturePlatform({ pace: { perSecond: 10, burst: 2 } });
  const room = await start(fixture);
  const bob = await room.join("bob");
  const began = performance.now();
  for (let i = 0; i < 7; i += 1) await bob.say(`word ${i}`);
  await expect.poll(() => fixture.posts.length).toBe(7);
  // Two at once, five more at ten a second.
  expect(performance.now() - began).toBeGreaterThan(480);
});

test("[X0-14.4-2] a private word that the platform does not take now is told when it does, once, and holds up nobody", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  fixture.trouble = "busy";
  await link(room, fixture);
  await fixture.say("mallory@example.org", "link 00000-00000", { channel: "" });
  expect(await room.store.links(bridgeName)).toHaveLength(1);
  expect(fixture.whispers).toEqual([]);
  fixture.trouble = "none";
  await expect
    .poll(() => fixture.whispers.map(({ user }) => user).sort())
    .toEqual([alice, "mallory@example.org"]);
  expect(fixture.whispers.find(({ user }) => user === alice)?.text).toContain("You are alice here");
});

test("[B-BRIDGE-1] a call at a gate offers its page and no button, and no press decides it", async () => {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bridge-gate-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const fixture = createFixturePlatform();
  const keys = { alice: newKey() };
  const room = await start(fixture, { server: { config: gateConfig(join(dir, "traces"), keys) } });
  await link(room, fixture);
  const token = await room.server.token({ sub: "clerk", topics: [], tools: ["**"] });
  const clerk = await connectSdk("v1", { url: `${room.server.url}/mcp`, token });
  onTestFinished(() => clerk.close());
  await clerk.call("papers.shred", { paper: "taxes" });
  await expect.poll(() => fixture.posts.length).toBe(1);
  const [shown] = fixture.posts;
  expect(shown?.post.buttons).toEqual([]);
  expect(shown?.post.link).toMatchObject({ label: "Open to sign" });
  expect(shown?.post.link?.url).toMatch(/^http:\/\/(localhost|127\.0\.0\.1):\d+\/approve\//);
  expect(shown?.text).toContain("requires a signature");
  const [card] = await room.store.openCards(bridgeName, fixtureChannel);
  for (const verb of ["approve", "reject"] as const) await fixture.press(alice, verb, card?.id ?? "");
  expect(fixture.whispers.at(-1)?.text).toContain("A button cannot decide");
  const bob = await room.join("bob");
  expect(bob.proposals.pending()).toHaveLength(1);
  expect(bob.proposals.pending()[0]?.rejections).toEqual([]);
});

test("[B-BRIDGE-1] a proposal that only looks like a gate gets no link of its maker's", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  const bob = await room.join("bob");
  const notice = { approve_url: "https://evil.example/approve/1", asked_by: "agent", why: "irreversible" };
  const payload = { method: "tools/call", params: { name: "move", arguments: {} }, mcpax: notice };
  await bob.publish({ kind: "mcp/proposal", to: ["robot"], payload });
  await expect.poll(() => fixture.posts.length).toBe(1);
  const [shown] = fixture.posts;
  expect(JSON.stringify(shown?.post)).not.toContain("evil.example");
  expect(shown?.text).toContain("this gateway has not made it");
  expect(shown?.post.buttons).toEqual([]);
});

test("a message that a platform delivers twice is said once, an edit is said as one", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  const bob = await room.join("bob");
  const heard: string[] = [];
  bob.addEventListener("chat", ({ detail }) => heard.push(detail.text));
  await link(room, fixture);
  for (let i = 0; i < 3; i += 1) await fixture.say(alice, "hello", { id: "m1" });
  await room.restart();
  await expect.poll(() => bob.state).toBe("live");
  await fixture.say(alice, "hello", { id: "m1" });
  await fixture.say(alice, "hello again", { id: "m1-edit", isEdit: true });
  await expect.poll(() => heard).toEqual(["hello", "(edited) hello again"]);
});

test("nobody hides what they say from a channel by the id of another message", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  const bob = await room.join("bob");
  const ids: string[] = [];
  bob.addEventListener("envelope", ({ detail }) => detail.kind === "chat" && ids.push(detail.id));
  await link(room, fixture);
  await fixture.say(alice, "from the channel");
  await expect.poll(() => ids).toHaveLength(1);
  const forged = `${ids[0]?.slice(0, -1)}${ids[0]?.endsWith("0") ? "1" : "0"}`;
  await bob.publish({ kind: "chat", id: forged, payload: { text: "from bob" } });
  await expect.poll(() => texts(fixture)).toEqual([expect.stringContaining("from bob")]);
});

test("[X0-14.4-1] a link that another process ends is over within a second, the open connection included", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  const bob = await room.join("bob");
  await link(room, fixture);
  await fixture.say(alice, "here");
  await expect.poll(() => bob.peers.some(({ id }) => id === "alice")).toBe(true);
  const ended = await room.store.unlink(bridgeName, alice);
  await room.server.identity.revocations.revoke(`link:${ended?.id}`);
  await expect.poll(() => bob.peers.some(({ id }) => id === "alice")).toBe(false);
  await fixture.say(alice, "still here?");
  expect(fixture.whispers.at(-1)?.text).toContain("You can only read here");
});

test("[X0-14.4-1] nobody is linked to the tree, a bridge or an id of a platform, whatever a code says", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture, { server: { config: { topics: { [topic]: { tree: true } } } } });
  for (const id of ["tree", "mcpx.face", "bridge:team", "slack:T1:U1", "XMPP:root@example.org"]) {
    await link(room, fixture, alice, id);
    await fixture.say(alice, `I am ${id}`);
    expect(fixture.whispers.at(-1)?.text).toContain(`nobody can speak as ${id}`);
  }
  // The control: the same way, with an id that may be.
  await link(room, fixture);
  const before = fixture.whispers.length;
  await fixture.say(alice, "I am alice");
  expect(fixture.whispers).toHaveLength(before);
});

test("[X0-14.4-1] wrong codes are counted, and after five of them even a right one has to wait", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  for (let i = 0; i < 5; i += 1) await fixture.say(alice, `link 0000${i}-00000`, { channel: "" });
  await link(room, fixture);
  expect(fixture.whispers.at(-1)?.text).toContain("Too many wrong codes");
  expect(await room.store.links(bridgeName)).toEqual([]);
  // Others are not hindered by it.
  await link(room, fixture, "carol@example.org", "carol");
  expect(await room.store.links(bridgeName)).toHaveLength(1);
});

test("[B-BRIDGE-1] a card belongs to its channel: the same id pressed elsewhere decides nothing", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture, { others: [otherChannel] });
  await link(room, fixture);
  room.propose("dock 1");
  await expect.poll(() => fixture.posts.length).toBe(2);
  const cardIn = (channel: string) =>
    fixture.posts.find((post) => post.channel === channel)?.post.buttons[0]?.card ?? "";
  expect(cardIn(fixtureChannel)).not.toBe(cardIn(otherChannel));
  for (const channel of [otherChannel, "elsewhere"]) {
    await fixture.press(alice, "approve", cardIn(fixtureChannel), channel);
    expect(fixture.whispers.at(-1)?.text).toContain("unknown here");
  }
  expect(room.moves).toEqual([]);
  await fixture.press(alice, "approve", cardIn(fixtureChannel));
  await expect.poll(() => room.moves).toEqual(["dock 1"]);
  // The other card follows too.
  await expect
    .poll(() => texts(fixture).filter((text) => text.includes("Approved by alice")))
    .toHaveLength(2);
});

test("[X0-14.4-1] a guest is restricted also where everybody else is full", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture, { unlinked: "guest", server: { gateway: { mode: "open" } } });
  const bob = await room.join("bob");
  await fixture.say("dora@example.org", "hello");
  const guest = () => bob.peers.find(({ id }) => id === "xmpp:dora@example.org")?.privilege;
  await expect.poll(guest).toBe("restricted");
});

test("[B-BRIDGE-1] a target that is not there, or does not answer, leaves the card open for the next press", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  await link(room, fixture);
  const bob = await room.join("bob", { level: "restricted" });
  bob.propose({ to: "drone", method: "tools/call", params: { name: "fly" } }).result.catch(() => {});
  await expect.poll(() => fixture.posts.length).toBe(1);
  const card = fixture.posts[0]?.post.buttons[0]?.card ?? "";
  await fixture.press(alice, "approve", card);
  expect(fixture.whispers.at(-1)?.text).toContain("drone is not in the room");
  expect((await room.store.card(card))?.claimedBy).toBeUndefined();
});

test("facts say how far a bridge is, and what is wrong with it", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture);
  const admin = await room.server.adminToken();
  const facts = async () => (await room.server.call("GET", "/admin/bridges", admin)).body.bridges;
  expect(await facts()).toMatchObject([
    {
      name: bridgeName,
      platform: "xmpp",
      state: "up",
      channels: [{ channel: fixtureChannel, room: topic, behind: 0 }],
    },
  ]);
  fixture.trouble = "down";
  const bob = await room.join("bob");
  await bob.say("hello?");
  await expect
    .poll(async () => (await facts())[0].channels[0])
    .toMatchObject({ behind: 1, fault: "the platform is down" });
  expect(await facts()).toMatchObject([{ state: "down", fault: "the platform is down" }]);
  fixture.trouble = "none";
  await expect.poll(async () => (await facts())[0]).toMatchObject({ state: "up", channels: [{ behind: 0 }] });
});

test("a reply is believed in its own channel alone; what is not known is quoted, short; what was deleted is answered by a post of its own", async () => {
  const fixture = createFixturePlatform();
  const room = await start(fixture, { others: [otherChannel] });
  await link(room, fixture);
  const bob = await room.join("bob");
  const heard: { id: string; text: unknown; answers: string | undefined }[] = [];
  bob.addEventListener("envelope", ({ detail: { id, kind, payload, correlation_id: answers } }) => {
    if (kind === "chat") heard.push({ id, text: payload.text, answers });
  });
  const { id: question } = await bob.say("which dock?");
  await expect.poll(() => fixture.posts.length).toBe(2);
  const refIn = (wanted: string) => fixture.posts.find(({ channel }) => channel === wanted)?.ref ?? "";
  // The name of another channel's message, and of none.
  for (const message of [refIn(otherChannel), "never-there", "", question, "' OR 1=1 --"]) {
    await fixture.say(alice, `about ${message}`, { replyTo: { message } });
    expect(heard.at(-1)).toMatchObject({ text: `about ${message}`, answers: undefined });
  }
  // Control: the same in their own channels.
  for (const channel of [fixtureChannel, otherChannel]) {
    const message = refIn(channel);
    await fixture.say(alice, `in ${channel}`, { channel, replyTo: { message, text: "not what was said" } });
    expect(heard.at(-1)).toMatchObject({ text: `in ${channel}`, answers: question });
  }
  const text = `first line\n\nsecond ${"word ".repeat(1_000)}`;
  await fixture.say(alice, "I agree", { replyTo: { message: "before our time", text } });
  const quoted = String(heard.at(-1)?.text);
  expect(quoted).toMatch(/^> first line second word [^\n]*…\n\nI agree$/);
  expect(quoted.length).toBeLessThan(250);
  expect(heard.at(-1)?.answers).toBeUndefined();
  await fixture.say(alice, "gone soon", { ref: "u-gone" });
  fixture.deleted.add("u-gone");
  await bob.publish({
    kind: "chat",
    payload: { text: "what was that?" },
    correlation_id: heard.at(-1)?.id ?? "",
  });
  await expect.poll(() => texts(fixture).filter((one) => one.includes("what was that?"))).toHaveLength(2);
  expect(fixture.posts.filter(({ replyTo }) => replyTo === "u-gone")).toEqual([]);
});
