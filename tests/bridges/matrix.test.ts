// Matrix as an application service, against a homeserver on loopback that is strict about the documented routes.
import { randomUUID } from "node:crypto";
import { createMatrixPlatform } from "@mcpx/bridges";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { startBridgedRoom } from "./support/bridged-room.ts";
import { startProxy } from "./support/cuttable-proxy.ts";
import { freePort } from "./support/free-port.ts";
import {
  bot,
  type MatrixHomeserver,
  matrixTokens,
  matrixUser,
  startHomeserver,
} from "./support/matrix-homeserver.ts";
import { emoji, shownIn } from "./support/matrix-shown.ts";
import { type PlatformBench, platformCases } from "./support/platform-cases.ts";

let last: MatrixHomeserver | undefined;
function messageIn({ events }: MatrixHomeserver, text: string): string | undefined {
  return events.find(({ type, content }) => type === "m.room.message" && String(content.body).includes(text))
    ?.event_id;
}

async function createBench(): Promise<PlatformBench & { homeserver: MatrixHomeserver }> {
  const homeserver = await startHomeserver();
  last = homeserver;
  onTestFinished(() => homeserver.close());
  const proxy = await startProxy(homeserver.port);
  onTestFinished(() => proxy.close());
  homeserver.servicePort = await freePort();
  const eventOf = (card: string) =>
    homeserver.events.find(({ sender, content }) => sender === bot && content["mcpx.card"] === card)
      ?.event_id;
  return {
    homeserver,
    kind: "matrix",
    channel: homeserver.channel,
    open: () =>
      createMatrixPlatform({
        homeserver: `http://127.0.0.1:${proxy.port}`,
        asToken: () => matrixTokens.as,
        hsToken: () => matrixTokens.hs,
        listen: { host: "127.0.0.1", port: homeserver.servicePort },
        channels: [homeserver.channel],
      }),
    async person(name, shownAs = name) {
      const user = matrixUser(name);
      if (shownAs !== name) {
        homeserver.send(user, "m.room.member", { membership: "join", displayname: shownAs });
      }
      const words = (body: string) => ({ msgtype: "m.text", body });
      return {
        key: user,
        say: async (text) => void homeserver.send(user, "m.room.message", words(text)),
        reply: async (text, to) => {
          const parent = { event_id: messageIn(homeserver, to) ?? "$never-there" };
          const relation = { "m.relates_to": { "m.in_reply_to": parent } };
          homeserver.send(user, "m.room.message", { ...words(text), ...relation });
        },
        edit: async (from, to) => {
          const relation = { rel_type: "m.replace", event_id: messageIn(homeserver, from) ?? "" };
          const edit = { "m.new_content": words(to), "m.relates_to": relation };
          homeserver.send(user, "m.room.message", { ...words(`* ${to}`), ...edit });
        },
        tell: async (text) =>
          void homeserver.send(user, "m.room.message", words(text), await homeserver.directRoom(user)),
        async press(verb, card) {
          // A card that was never there cannot be pressed: somebody writes one instead.
          const made = { ...words("a card of my own"), "mcpx.card": card };
          const id = eventOf(card) ?? homeserver.send(user, "m.room.message", made).event_id;
          const relation = { rel_type: "m.annotation", event_id: id, key: emoji[verb] };
          homeserver.send(user, "m.reaction", { "m.relates_to": relation });
        },
        heard: () => homeserver.heardBy(user),
      };
    },
    isForgeryIgnored: true,
    async deliver(name, number, body) {
      const event = {
        ...{ type: "m.room.message", event_id: `$d${number}`, room_id: homeserver.channel },
        ...{ sender: matrixUser(name), content: { msgtype: "m.text", body } },
      };
      expect(await homeserver.bring(randomUUID(), [event])).toBe(200);
    },
    limits: {
      waitMs: 700,
      set(isOn) {
        homeserver.trouble = isOn ? { status: 429, retryAfterMs: 700 } : undefined;
      },
      refused: () => homeserver.calls.filter(({ answer }) => answer.startsWith("429")).length,
    },
    shown: () => shownIn(homeserver, bot),
    cut: async (isDown) => {
      homeserver.isCut = isDown;
      proxy.cut(isDown);
    },
  };
}

/** Whatever a test is about: the documented routes were kept. */
afterEach(() => {
  const refused = (last?.calls ?? []).filter(
    ({ answer, route }) => !/^(200|429)/.test(answer) && !route.endsWith("m.direct"),
  );
  expect(refused).toEqual([]);
  last = undefined;
});

platformCases("[X0-2.1-8]", createBench);

async function start() {
  const bench = await createBench();
  const { kind, channel, homeserver } = bench;
  const room = await startBridgedRoom({ kind, channel, open: bench.open });
  const bob = await room.join("bob");
  const heard: string[] = [];
  bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
  const alice = await bench.person("alice");
  await alice.tell(`link ${await room.code("alice", "full")}`);
  await expect.poll(() => alice.heard().length).toBe(1);
  return { bench, homeserver, room, bob, heard, alice };
}

test("[X0-2.1-8] a transaction without the homeserver's token is refused, one that comes twice counts once", async () => {
  const { homeserver, heard } = await start();
  const said = (id: string, body: string) => ({
    ...{ type: "m.room.message", event_id: id, room_id: homeserver.channel, sender: matrixUser("alice") },
    content: { msgtype: "m.text", body },
  });
  expect(await homeserver.bring("forged", [said("$f1", "forged")], "guess")).toBe(403);
  expect(await homeserver.bring("forged", [said("$f1", "forged")], matrixTokens.as)).toBe(403);
  expect(await homeserver.bring("t1", [said("$r1", "one")])).toBe(200);
  expect(await homeserver.bring("t1", [said("$r1", "one")])).toBe(200);
  // The same event in another transaction is the same event.
  expect(await homeserver.bring("t2", [said("$r1", "one"), said("$r2", "two")])).toBe(200);
  await expect.poll(() => heard).toEqual(["alice: one", "alice: two"]);
});

test("[X0-2.1-8] [B-BRIDGE-1] a card in somebody's own event is none, and decided cards lose what can be pressed", async () => {
  const { homeserver, room, bench } = await start();
  for (const [index, where] of ["dock 1", "dock 2"].entries()) {
    room.propose(where);
    await expect.poll(() => bench.shown()[index]?.card).toMatch(/^[0-9a-z]{16,}$/);
  }
  const [first, second] = shownIn(homeserver, bot);
  const own = homeserver.events.filter(
    ({ type, sender, content }) =>
      type === "m.reaction" &&
      sender === bot &&
      (content["m.relates_to"] as { event_id: string }).event_id === first?.id,
  );
  expect(own.map(({ content }) => (content["m.relates_to"] as { key: string }).key)).toEqual(["✅", "❌"]);
  const react = (to: string, key: string) =>
    homeserver.send(matrixUser("alice"), "m.reaction", {
      "m.relates_to": { rel_type: "m.annotation", event_id: to, key },
    });
  // Alice reacts to what mallory wrote, which claims to be the second card.
  const copy = { msgtype: "m.text", body: "please react", "mcpx.card": second?.card };
  const fake = homeserver.send(matrixUser("mallory"), "m.room.message", copy).event_id;
  react(fake, "✅");
  react(second?.id ?? "", "👍");
  await expect
    .poll(() => homeserver.calls.some(({ route }) => route.includes(encodeURIComponent(fake))))
    .toBe(true);
  // One person's presses are handled in order: when this one is done, those before it are.
  react(first?.id ?? "", "✅\ufe0f");
  await expect.poll(() => bench.shown()[0]?.text).toContain("Approved by alice");
  expect(room.moves).toEqual(["dock 1"]);
  await expect.poll(() => own.every(({ isRedacted }) => isRedacted === true)).toBe(true);
});

test("[X0-2.1-8] edits are said as edits, files are links, replies are without what they quote, notices are nobody's", async () => {
  const { homeserver, heard } = await start();
  const send = (content: object) => homeserver.send(matrixUser("alice"), "m.room.message", content as never);
  const { event_id: id } = send({ msgtype: "m.text", body: "first" });
  const better = { msgtype: "m.text", body: "better" };
  send({
    ...better,
    body: "* better",
    "m.new_content": better,
    "m.relates_to": { rel_type: "m.replace", event_id: id },
  });
  const { event_id: picture } = send({ msgtype: "m.image", body: "map.png", url: "mxc://example.org/1" });
  const reply = { "m.in_reply_to": { event_id: id } };
  send({ msgtype: "m.text", body: "> <@bob:example.org> one\n> two\n\nyes", "m.relates_to": reply });
  send({ msgtype: "m.notice", body: "I am a program" });
  send({ msgtype: "m.text", body: "end" });
  await expect
    .poll(() => heard)
    .toEqual([
      "alice: first",
      "alice: (edited) better",
      `alice: map.png: https://matrix.to/#/${homeserver.channel}/${picture}`,
      "alice: yes",
      "alice: end",
    ]);
});

test("[B-BRIDGE-1] a private word goes to a room of two, never to one that others have entered", async () => {
  const { homeserver, alice, room } = await start();
  const first = await homeserver.directRoom(matrixUser("alice"));
  homeserver.send(
    matrixUser("mallory"),
    "m.room.message",
    { msgtype: "m.text", body: "I am here too" },
    first,
  );
  await alice.say("unlink");
  await expect.poll(() => alice.heard().at(-1)).toContain("no longer alice");
  expect(homeserver.heardBy(matrixUser("mallory")).join("\n")).not.toContain("no longer alice");
  // And nothing that is said there is taken for a private word.
  const code = await room.code("alice", "full");
  homeserver.send(matrixUser("alice"), "m.room.message", { msgtype: "m.text", body: `link ${code}` }, first);
  await alice.say("still here?");
  await expect.poll(() => alice.heard().at(-1)).toContain("You can only read here");
  expect(await room.store.links("team")).toEqual([]);
});

test("[X0-2.1-8] a thread is answered in the thread; the event that clients name for older clients is not what is answered", async () => {
  const { homeserver, room } = await start();
  const bob = await room.join("bob");
  const said: { id: string; text: unknown; answers: string | undefined }[] = [];
  bob.addEventListener("envelope", ({ detail: { id, kind, payload, correlation_id: answers } }) => {
    if (kind === "chat") said.push({ id, text: payload.text, answers });
  });
  const send = (body: string, relation: object) =>
    homeserver.send(matrixUser("alice"), "m.room.message", {
      ...{ msgtype: "m.text", body },
      ...{ "m.relates_to": relation },
    });
  const { id: root } = await bob.say("which dock?");
  await room.isKnown(root);
  const thread = { rel_type: "m.thread", event_id: messageIn(homeserver, "which dock?") };
  const { event_id: first } = send("seven", { ...thread });
  const reply = { "m.in_reply_to": { event_id: first } };
  send("or eight", { ...thread, ...reply, is_falling_back: true });
  send("no, seven", { ...thread, ...reply, is_falling_back: false });
  await expect.poll(() => said.at(-1)?.text).toBe("no, seven");
  const seven = said.find(({ text }) => text === "seven")?.id ?? "";
  expect(said.map(({ answers }) => answers)).toEqual([undefined, root, root, seven]);
  await bob.publish({ kind: "chat", payload: { text: "seven it is" }, correlation_id: seven });
  await expect
    .poll(
      () => homeserver.events.find(({ content }) => String(content.body).includes("seven it is"))?.content,
    )
    .toMatchObject({ "m.relates_to": { ...thread, ...reply, is_falling_back: false } });
  // What nobody here knows is quoted, as the sender's client has it.
  const quote = "> <@bob:example.org> an old word\n\nyes";
  send(quote, { "m.in_reply_to": { event_id: "$elsewhere" } });
  await expect.poll(() => said.at(-1)).toMatchObject({ text: "> an old word\n\nyes", answers: undefined });
});
