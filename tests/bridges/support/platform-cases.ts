// What every chat platform must do, whoever carries it. A bench is the platform's own side: its people, and what they see.
import type { Platform, PlatformKind, Verb } from "@mcpx/bridges";
import { systemClock } from "@mcpx/host";
import { expect, test } from "vitest";
import { refusedOnConnect } from "../../support/enter.ts";
import { type BridgedRoom, type BridgeSetup, bridgeName, startBridgedRoom, topic } from "./bridged-room.ts";

interface Person {
  /** As the platform authenticates them. */
  readonly key: string;
  say(text: string): Promise<void>;
  /** An answer to what stands in the channel, or to what was never there. */
  reply(text: string, to: string): Promise<void>;
  /** What they said there, with other words. */
  edit(from: string, to: string): Promise<void>;
  /** To the bridge alone. */
  tell(text: string): Promise<void>;
  press(verb: Verb, card: string): Promise<void>;
  /** What the bridge told them in private. */
  heard(): string[];
}

export interface Shown {
  text: string;
  /** The card, where it can be decided here. */
  card: string | undefined;
  verbs: Verb[];
  links: string[];
  /** The text of what it was posted in answer to. */
  answers?: string | undefined;
}

export interface PlatformBench {
  readonly kind: PlatformKind;
  readonly channel: string;
  open(): Platform;
  /** `shownAs`: the name they have chosen for themselves. */
  person(name: string, shownAs?: string): Promise<Person>;
  /** The channel as its members see it now, oldest first. */
  shown(): Shown[];
  /** A press of what is no card reaches nobody: people there react to everything. */
  readonly isForgeryIgnored?: boolean;
  /** A message under a number of its own: the same number is the same message, delivered again. */
  deliver(name: string, number: number, text: string): Promise<void>;
  /** The platform's own answer to too many requests, to everything. */
  readonly limits?: { readonly waitMs: number; set(isOn: boolean): void; refused(): number };
  /** Nothing reaches the platform, or it is as before. */
  cut(isDown: boolean): Promise<void>;
  /** What cannot be brought now is brought no more, where the platform would try again. */
  forgets?(): void;
}

/** `carried` is the ledger's row of the platform; `lacks` what its bench cannot do, and why is said there. */
export function platformCases(
  carried: string,
  createBench: () => Promise<PlatformBench>,
  lacks: readonly "limits"[] = [],
): void {
  const start = async (more: Partial<BridgeSetup> = {}) => {
    const bench = await createBench();
    const { kind, channel } = bench;
    const room = await startBridgedRoom({ kind, channel, open: () => bench.open(), ...more });
    return { bench, room };
  };
  const linked = async (
    bench: PlatformBench,
    room: BridgedRoom,
    name: string,
    level: "full" | "restricted" = "full",
  ) => {
    const person = await bench.person(name);
    await person.tell(`link ${await room.code(name, level)}`);
    await expect.poll(() => person.heard().join("\n")).toContain(`You are ${name} here`);
    return person;
  };
  const texts = (bench: PlatformBench) => bench.shown().map(({ text }) => text);
  const cardOf = async (bench: PlatformBench, what: string) => {
    await expect
      .poll(() => bench.shown().find(({ text, card }) => text.includes(what) && card)?.card)
      .toMatch(/^[0-9a-z]{16,}$/);
    return bench.shown().find(({ text, card }) => text.includes(what) && card)?.card ?? "";
  };
  const post = (bench: PlatformBench, what: string) =>
    bench.shown().findLast(({ text }) => text.includes(what));

  test(`${carried} what is said in the room is on the platform, and the other way round, in order and once`, async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob");
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
    const alice = await linked(bench, room, "alice");
    for (const word of ["one", "two", "three"]) await bob.say(word);
    for (const word of ["four", "five", "six"]) await alice.say(word);
    await expect.poll(() => heard).toEqual(["alice: four", "alice: five", "alice: six"]);
    await bob.say("end");
    await expect.poll(() => texts(bench).some((text) => text.includes("end"))).toBe(true);
    const words = texts(bench).flatMap((text) => /\b(one|two|three|end)\b/.exec(text)?.[1] ?? []);
    expect(words).toEqual(["one", "two", "three", "end"]);
    // What came from the channel does not go back there.
    const fromRoom = texts(bench).filter((text) => /^alice\b[\s\S]*\b(four|five|six)\b/.test(text));
    expect(fromRoom).toEqual([]);
    expect(texts(bench).find((text) => text.includes("two"))).toContain("bob");
  });

  test("[X0-14.4-1] [X0-14.4-3] [B-BRIDGE-1] an agent proposes, a human presses, the robot moves once", async () => {
    const { bench, room } = await start();
    const alice = await linked(bench, room, "alice");
    const { result } = room.propose("dock 7", { reason: "a parcel waits" });
    const card = await cardOf(bench, "move");
    expect(post(bench, "move")?.text).toMatch(/robot[\s\S]*agent[\s\S]*a parcel waits[\s\S]*dock 7/);
    await alice.press("approve", card);
    expect(await result).toMatchObject({ content: [{ text: "at dock 7" }] });
    await expect.poll(() => post(bench, "Approved by alice")?.text).toContain("done");
    expect(bench.shown().filter(({ card: open }) => open !== undefined)).toEqual([]);
    // Results are for who asked, not for the channel.
    expect(texts(bench).join("\n")).not.toContain("at dock 7");
    await alice.press("approve", card);
    await expect.poll(() => alice.heard().join("\n")).toContain("fulfilled");
    expect(room.moves).toEqual(["dock 7"]);
  });

  test("[B-BRIDGE-1] two presses of two people make one call", async () => {
    const { bench, room } = await start();
    const [alice, carol] = [await linked(bench, room, "alice"), await linked(bench, room, "carol")];
    const { result } = room.propose("dock 8");
    const card = await cardOf(bench, "dock 8");
    await Promise.all([alice, carol, alice, carol].map((person) => person.press("approve", card)));
    await result;
    await expect.poll(() => post(bench, "Approved by")?.text).toContain("done");
    expect(room.moves).toEqual(["dock 8"]);
  });

  test("[B-BRIDGE-1] a press of a stranger decides nothing, and only the stranger hears of it", async () => {
    const { bench, room } = await start();
    const mallory = await bench.person("mallory");
    room.propose("dock 9");
    const card = await cardOf(bench, "dock 9");
    await mallory.press("approve", card);
    await expect.poll(() => mallory.heard().join("\n")).toContain("You are not linked");
    await mallory.press("reject", card);
    await mallory.press("approve", "0123456789abcdef");
    if (!bench.isForgeryIgnored) {
      await expect.poll(() => mallory.heard().join("\n")).toContain("unknown");
    }
    // Control: the same card is decided by somebody who may.
    const alice = await linked(bench, room, "alice");
    expect(room.moves).toEqual([]);
    await alice.press("approve", card);
    await expect.poll(() => room.moves).toEqual(["dock 9"]);
    expect(texts(bench).join("\n")).not.toContain("not linked");
  });

  test("[B-BRIDGE-1] the level counts that somebody has when they press", async () => {
    const { bench, room } = await start();
    const alice = await linked(bench, room, "alice");
    await alice.say("here I am");
    room.propose("dock 1");
    const card = await cardOf(bench, "dock 1");
    const admin = await room.server.adminToken();
    const demoted = await room.server.call("POST", `/admin/participants/alice/demote?topic=${topic}`, admin);
    expect(demoted.status).toBe(200);
    await alice.press("approve", card);
    await expect.poll(() => alice.heard().join("\n")).toContain("privilege_violation");
    expect(room.moves).toEqual([]);
    // Who was linked with less has less.
    const carol = await linked(bench, room, "carol", "restricted");
    await carol.press("approve", card);
    await expect.poll(() => carol.heard().join("\n")).toContain("privilege_violation");
    expect(room.moves).toEqual([]);
    await room.server.call("POST", `/admin/participants/alice/promote?topic=${topic}`, admin);
    await alice.press("approve", card);
    await expect.poll(() => room.moves).toEqual(["dock 1"]);
  });

  test("[B-BRIDGE-1] a no is told with its reason, and the proposal waits on", async () => {
    const { bench, room } = await start();
    const alice = await linked(bench, room, "alice");
    room.propose("dock 2");
    const card = await cardOf(bench, "dock 2");
    await alice.press("reject", card);
    const bob = await room.join("bob");
    await expect.poll(() => bob.proposals.all()[0]?.rejections.map(({ by }) => by)).toEqual(["alice"]);
    expect(room.moves).toEqual([]);
  });

  test("[B-BRIDGE-1] what has expired cannot be pressed, and says so", async () => {
    const { bench, room } = await start();
    const alice = await linked(bench, room, "alice");
    room.propose("dock 3", { ttlMs: 1_500 });
    const card = await cardOf(bench, "dock 3");
    await expect.poll(() => post(bench, "Expired")?.text).toContain("nobody decided in time");
    expect(bench.shown().filter(({ card: open }) => open === card)).toEqual([]);
    await alice.press("approve", card);
    await expect.poll(() => alice.heard().join("\n")).toContain("expired");
    expect(room.moves).toEqual([]);
  });

  test("[B-BRIDGE-1] a restart loses no card: open ones can be pressed, decided ones are shown as such", async () => {
    const { bench, room } = await start();
    const alice = await linked(bench, room, "alice");
    room.propose("dock 4");
    room.propose("dock 5");
    const [first, second] = [await cardOf(bench, "dock 4"), await cardOf(bench, "dock 5")];
    // What was posted is known to have been: an answer that is lost with the connection may make a post twice.
    for (const id of [first, second]) {
      await expect.poll(async () => (await room.store.card(id))?.ref).toEqual(expect.any(String));
    }
    await bench.cut(true);
    const bob = await room.join("bob");
    await expect.poll(() => bob.proposals.pending().length).toBe(2);
    const [wanted] = bob.proposals.pending();
    if (wanted !== undefined) await bob.proposals.fulfil(wanted);
    expect(room.moves).toEqual(["dock 4"]);
    const restarting = room.restart();
    await bench.cut(false);
    await restarting;
    await expect.poll(() => post(bench, "Approved by bob")?.text).toContain("dock 4");
    await alice.press("approve", first);
    await expect.poll(() => alice.heard().join("\n")).toContain("fulfilled");
    await alice.press("approve", second);
    await expect.poll(() => room.moves).toEqual(["dock 4", "dock 5"]);
    expect(texts(bench).filter((text) => text.includes("dock 5") && text.includes("agent")).length).toBe(1);
  });

  test(`${carried} a reply is a reply on both sides, to cards and after a restart too; what is not known there is none`, async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob");
    const heard: { text: unknown; answers: string | undefined }[] = [];
    const ids = new Map<unknown, string>();
    bob.addEventListener("envelope", ({ detail: { id, kind, payload, correlation_id: answers } }) => {
      if (kind !== "chat") return;
      ids.set(payload.text, id);
      heard.push({ text: payload.text, answers });
    });
    const answer = (text: string, correlation_id: string) =>
      bob.publish({ kind: "chat", payload: { text }, correlation_id });
    const alice = await linked(bench, room, "alice");
    const { id: lunch } = await bob.say("lunch?");
    await room.isKnown(lunch);
    await expect.poll(() => post(bench, "lunch?")?.text).toBeDefined();
    await alice.reply("at noon", "lunch?");
    await expect.poll(() => heard.at(-1)).toEqual({ text: "at noon", answers: lunch });
    await alice.edit("at noon", "at one");
    await expect.poll(() => heard.at(-1)).toEqual({ text: "(edited) at one", answers: lunch });
    await alice.reply("to what?", "never said");
    await expect.poll(() => heard.at(-1)).toEqual({ text: "to what?", answers: undefined });
    const handle = room.propose("dock 7");
    await cardOf(bench, "dock 7");
    await room.isKnown(handle.id);
    await alice.reply("why?", "dock 7");
    await expect.poll(() => heard.at(-1)).toEqual({ text: "why?", answers: handle.id });
    await answer("a parcel", handle.id);
    await expect.poll(() => post(bench, "a parcel")?.answers).toContain("dock 7");
    await alice.say("hello");
    await expect.poll(() => heard.at(-1)).toEqual({ text: "hello", answers: undefined });
    await room.restart();
    await expect.poll(() => bob.state).toBe("live");
    await answer("hello yourself", ids.get("hello") ?? "");
    await expect.poll(() => post(bench, "hello yourself")?.answers).toBe("hello");
    await alice.reply("or at two", "lunch?");
    await expect.poll(() => heard.at(-1)).toEqual({ text: "or at two", answers: lunch });
    await answer("to nothing there", "said-elsewhere");
    await expect.poll(() => post(bench, "to nothing there")?.text).toBeDefined();
    expect(post(bench, "to nothing there")?.answers).toBeUndefined();
  });

  test("markup, mentions and hidden characters are shown as they are written", async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob", { name: "ali\u202ece <!channel>" });
    const text = "*bold* <b>&amp; @everyone <!here> <@U1> [x](http://e) \u202egnp\u200b `tick` _u_";
    await bob.say(text, { format: "markdown" });
    await expect.poll(() => texts(bench).join("\n")).toContain("*bold*");
    const seen = post(bench, "*bold*")?.text ?? "";
    expect(seen).toContain(
      "*bold* <b>&amp; @everyone <!here> <@U1> [x](http://e) \\u202egnp\\u200b `tick` _u_",
    );
    expect(seen).toContain("(bob)");
    expect(seen).not.toMatch(/[\u202e\u200b]/);
    // And the other way: what a person writes reaches the room letter for letter.
    const alice = await linked(bench, room, "alice");
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(detail.text));
    await alice.say("1 < 2 && *x* @everyone");
    await expect.poll(() => heard).toEqual(["1 < 2 && *x* @everyone"]);
  });

  test("40 000 characters are cut, with the way to the rest; what a person says reaches the room as a whole", async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob");
    await bob.say(`begin ${"word ".repeat(8_000)}`);
    await expect.poll(() => texts(bench).join("\n")).toContain("begin");
    const seen = post(bench, "begin");
    expect(seen?.text.length).toBeLessThanOrEqual(bench.open().can.charsMax + 100);
    expect(seen?.text).toMatch(/cut here: 400\d\d characters/);
    expect(seen?.text).toContain(room.server.url);
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(detail.text));
    const alice = await linked(bench, room, "alice");
    const long = `begin ${"word ".repeat(7_998)}end`;
    await alice.say(long);
    await expect.poll(() => heard.at(-1)?.length).toBe(long.length);
    expect(heard.at(-1)).toBe(long);
  });

  test("[X0-14.4-1] a code counts once, and who is unlinked speaks no more", async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob");
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
    const code = await room.code("alice", "full");
    const [alice, mallory] = [await bench.person("alice"), await bench.person("mallory")];
    await alice.tell(`link ${code}`);
    await expect.poll(() => alice.heard().join("\n")).toContain("You are alice here");
    await mallory.tell(`link ${code}`);
    await expect.poll(() => mallory.heard().join("\n")).toContain("is not valid");
    await mallory.say("I am alice");
    await expect.poll(() => mallory.heard().join("\n")).toContain("You can only read here");
    await alice.say("hello");
    await expect.poll(() => heard).toEqual(["alice: hello"]);
    expect((await room.store.links(bridgeName)).map(({ user }) => user)).toEqual([alice.key]);
    await alice.tell("unlink");
    await expect.poll(() => alice.heard().join("\n")).toContain("no longer alice");
    await alice.say("still me?");
    await expect.poll(() => alice.heard().join("\n")).toContain("You can only read here");
    expect(heard).toEqual(["alice: hello"]);
  });

  test("[X0-14.4-1] guests speak under an id of their platform, restricted, and no token has such an id", async () => {
    const { bench, room } = await start({ unlinked: "guest" });
    const bob = await room.join("bob");
    const heard: { from: string; text: string }[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(detail));
    const dora = await bench.person("dora");
    await dora.say("may I?");
    await expect.poll(() => heard.map(({ text }) => text)).toEqual(["may I?"]);
    const guest = heard[0]?.from ?? "";
    expect(guest).toMatch(new RegExp(`^${bench.kind}:`));
    expect(bob.peers.find(({ id }) => id === guest)?.privilege).toBe("restricted");
    for (const id of [guest, guest.toUpperCase(), `bridge:${bridgeName}`]) {
      const token = await room.server.token({ sub: id, topics: [topic], level: "full" });
      expect(await refusedOnConnect(room.server, token, { topic })).toMatchObject({ status: 400 });
    }
  });

  test("[B-BRIDGE-1] a name somebody chose is nobody: who is shown as another decides and says nothing as them", async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob");
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
    const alice = await linked(bench, room, "alice");
    const mallory = await bench.person("mallory", "Alice");
    room.propose("dock 1");
    const card = await cardOf(bench, "dock 1");
    await mallory.say("I am alice");
    await expect.poll(() => mallory.heard().join("\n")).toContain("You can only read here");
    await mallory.press("approve", card);
    await expect.poll(() => mallory.heard().join("\n")).toContain("You are not linked");
    expect(room.moves).toEqual([]);
    await alice.say("no, I am");
    await alice.press("approve", card);
    await expect.poll(() => room.moves).toEqual(["dock 1"]);
    expect(heard).toEqual(["alice: no, I am"]);
  });

  test("a platform that is down for an hour gets what it missed, in order and once, and nothing to press that has expired", async () => {
    let awayMs = 0;
    const clock = { ...systemClock, now: () => Date.now() + awayMs };
    const { bench, room } = await start({ server: { clock } });
    const alice = await linked(bench, room, "alice");
    const bob = await room.join("bob");
    await bob.say("before");
    room.propose("dock 1", { ttlMs: 1_800_000 });
    const card = await cardOf(bench, "dock 1");
    await expect.poll(async () => (await room.store.card(card))?.ref).toEqual(expect.any(String));
    await bench.cut(true);
    for (const word of ["missed 1", "missed 2", "missed 3"]) await bob.say(word);
    room.propose("dock 2", { ttlMs: 1_800_000 });
    room.propose("dock 3", { ttlMs: 7_200_000 });
    await expect.poll(() => bob.proposals.pending().length).toBe(3);
    awayMs = 3_600_000;
    await bench.cut(false);
    await bob.say("after");
    await expect.poll(() => texts(bench).join("\n"), { timeout: 25_000 }).toContain("after");
    const words = texts(bench).flatMap((text) => /before|missed \d|after/.exec(text) ?? []);
    expect(words).toEqual(["before", "missed 1", "missed 2", "missed 3", "after"]);
    await expect.poll(() => post(bench, "dock 1")?.text).toContain("Expired");
    expect(post(bench, "dock 2")?.text).toContain("Expired");
    await alice.press("approve", card);
    await expect.poll(() => alice.heard().join("\n")).toContain("expired");
    // Control: what still waits.
    expect(bench.shown().flatMap(({ card: open }) => open ?? [])).toHaveLength(1);
    await alice.press("approve", await cardOf(bench, "dock 3"));
    await expect.poll(() => room.moves).toEqual(["dock 3"]);
  });

  test("what is delivered twice, or in another order than it was said, is in the room once, as it came", async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob");
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
    const alice = await linked(bench, room, "alice");
    for (const [number, text] of [
      [2, "second"],
      [1, "first"],
      [2, "second"],
      [1, "first"],
      [3, "second"],
    ] as const) {
      await bench.deliver("alice", number, text);
    }
    await alice.say("end");
    await expect.poll(() => heard.at(-1)).toBe("alice: end");
    expect(heard).toEqual(["alice: second", "alice: first", "alice: second", "alice: end"]);
  });

  test(`${carried} what people said while the bridge was away is in the room, in order and once, after a restart too`, async () => {
    const { bench, room } = await start();
    const bob = await room.join("bob");
    const heard: string[] = [];
    bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
    const [alice, carol] = [await linked(bench, room, "alice"), await linked(bench, room, "carol")];
    const mallory = await bench.person("mallory", "Alice");
    await alice.say("before");
    await expect.poll(() => heard).toEqual(["alice: before"]);
    bench.forgets?.();
    await bench.cut(true);
    const restarting = room.restart();
    await alice.say("1");
    await carol.say("2");
    await mallory.say("I am alice");
    await alice.say("3");
    await bench.cut(false);
    await restarting;
    await expect.poll(() => heard.at(-1)).toBe("alice: 3");
    await carol.say("between");
    await expect.poll(() => heard.at(-1)).toBe("carol: between");
    // The connection alone.
    await bench.cut(true);
    for (const word of ["4", "5"]) await alice.say(word);
    await bench.cut(false);
    await expect.poll(() => heard.at(-1)).toBe("alice: 5");
    await carol.say("end");
    await expect.poll(() => heard.at(-1)).toBe("carol: end");
    const away = ["alice: before", "alice: 1", "carol: 2", "alice: 3", "carol: between"];
    expect(heard).toEqual([...away, "alice: 4", "alice: 5", "carol: end"]);
  });

  if (!lacks.includes("limits")) {
    test("[X0-14.4-2] where everything is too much the platform says how long to wait: nothing is sent before that, and nothing is lost or said twice", async () => {
      const { bench, room } = await start();
      const bob = await room.join("bob");
      const { limits } = bench;
      limits?.set(true);
      await bob.say("one");
      await expect.poll(() => limits?.refused()).toBe(1);
      const refusedAt = performance.now();
      await bob.say("two");
      room.propose("dock 1");
      await expect.poll(() => bob.proposals.pending().length).toBe(1);
      limits?.set(false);
      await cardOf(bench, "dock 1");
      expect(performance.now() - refusedAt).toBeGreaterThan((limits?.waitMs ?? 0) * 0.9);
      expect(limits?.refused()).toBe(1);
      const words = texts(bench).flatMap((text) => /\b(one|two|dock 1)\b/.exec(text)?.[1] ?? []);
      expect(words).toEqual(["one", "two", "dock 1"]);
    });
  }
}
