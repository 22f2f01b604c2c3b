// Discord with the libraries that discord.js is made of, against a fixture that is strict about Discord's documentation.
import { createDiscordPlatform, type Verb } from "@mcpx/bridges";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { startBridgedRoom } from "./support/bridged-room.ts";
import { startProxy } from "./support/cuttable-proxy.ts";
import { type DiscordServer, discordToken, startDiscord, userId } from "./support/discord-server.ts";
import { nobody } from "./support/nobody.ts";
import { type PlatformBench, platformCases } from "./support/platform-cases.ts";

let last: DiscordServer | undefined;

async function createBench(): Promise<PlatformBench & { discord: DiscordServer }> {
  const discord = await startDiscord();
  last = discord;
  onTestFinished(() => discord.close());
  const proxy = await startProxy(discord.port);
  onTestFinished(() => proxy.close());
  return {
    discord,
    kind: "discord",
    channel: discord.channel,
    open: () =>
      createDiscordPlatform({ token: () => discordToken, apiUrl: `http://127.0.0.1:${proxy.port}/api` }),
    person: async (name, shownAs = name) => {
      const author = { id: userId(name), username: shownAs, global_name: shownAs };
      return {
        key: userId(name),
        say: async (text) => discord.say(name, text, { extra: { author } }),
        reply: async (text, to) => discord.say(name, text, { extra: { author, ...replyTo(discord, to) } }),
        edit: async (from, to) =>
          discord.say(name, to, { id: namedIn(discord, from) ?? "", edited: true, extra: { author } }),
        tell: async (text) => discord.tell(name, text),
        press: async (verb, card) => discord.press(name, `${verb}:${card}`, shownAs),
        heard: () => discord.whispers.filter(({ user }) => user === userId(name)).map(({ text }) => text),
      };
    },
    deliver: async (name, number, text) => discord.say(name, text, { id: `90000000000000${number}` }),
    limits: {
      waitMs: 1_000,
      set(isOn) {
        discord.trouble = isOn ? { status: 429, retryAfter: 1 } : undefined;
      },
      refused: () => discord.calls.filter(({ answer }) => answer === "429").length,
    },
    shown: () =>
      discord.posts.map(({ text, body }) => {
        const buttons = (body.components ?? []).flatMap(({ components }) => components);
        const ids = buttons.flatMap(({ custom_id }) => custom_id ?? []);
        return {
          text,
          answers: [...discord.posts, ...discord.said].find(
            ({ id }) => id === body.message_reference?.message_id,
          )?.text,
          card: ids[0]?.split(":")[1],
          verbs: ids.map((id) => id.split(":")[0] as Verb),
          links: buttons.flatMap(({ url }) => url ?? []),
        };
      }),
    cut: async (isDown) => proxy.cut(isDown),
  };
}

function namedIn({ posts, said }: DiscordServer, words: string): string | undefined {
  return [...posts, ...said].find(({ text }) => text.includes(words))?.id;
}

/** As Discord describes a reply. What was deleted is referred to without being brought. */
function replyTo(discord: DiscordServer, words: string, channel = discord.channel): object {
  const id = namedIn(discord, words) ?? "800000000000001";
  return { type: 19, message_reference: { type: 0, message_id: id, channel_id: channel, guild_id: "77" } };
}

/** Whatever a test is about: Discord's documentation was kept. */
afterEach(() => {
  const refused = (last?.calls ?? []).filter(({ answer }) => !["200", "204", "429", "503"].includes(answer));
  expect(refused).toEqual([]);
  expect(last?.late ?? []).toEqual([]);
  last = undefined;
});

platformCases("[X0-2.1-6]", createBench);

async function start() {
  const bench = await createBench();
  const { kind, channel, discord } = bench;
  const room = await startBridgedRoom({ kind, channel, open: bench.open });
  const bob = await room.join("bob");
  const heard: string[] = [];
  bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
  discord.tell("alice", `link ${await room.code("alice", "full")}`);
  await expect.poll(() => discord.whispers.length).toBe(1);
  return { bench, discord, room, bob, heard };
}

test("[X0-2.1-6] a connection that breaks is resumed, and what was said meanwhile is heard once", async () => {
  const { discord, bench, heard } = await start();
  discord.say("alice", "before");
  await expect.poll(() => heard).toEqual(["alice: before"]);
  await bench.cut(true);
  await expect.poll(() => discord.gateway.connections()).toBe(0);
  discord.say("alice", "meanwhile");
  await bench.cut(false);
  await expect.poll(() => heard).toEqual(["alice: before", "alice: meanwhile"]);
  expect(discord.gateway.log).toEqual(["identify", "resume"]);
});

test("[X0-2.1-6] Discord asks for another connection now and then, and gets it", async () => {
  const { discord, heard } = await start();
  discord.gateway.reconnect(true);
  discord.say("alice", "at once");
  await expect.poll(() => heard).toEqual(["alice: at once"]);
  await expect.poll(() => discord.gateway.log).toEqual(["identify", "resume"]);
});

test("[X0-2.1-6] edits are said as edits, files are links, mentions are names", async () => {
  const { discord, heard } = await start();
  discord.say("alice", "first", { id: "900000000000002" });
  discord.say("alice", "first, better", { id: "900000000000002", edited: true });
  const attachments = [{ filename: "map.png", url: "https://cdn.discordapp.com/1" }];
  discord.say("alice", "<@12> look", { extra: { attachments, mentions: [{ id: "12", username: "carol" }] } });
  discord.say("alice", "I am a bot", {
    extra: { author: { id: userId("alice"), username: "alice", bot: true } },
  });
  discord.say("alice", "end");
  await expect
    .poll(() => heard)
    .toEqual([
      "alice: first",
      "alice: (edited) first, better",
      "alice: @carol look\nmap.png: https://cdn.discordapp.com/1",
      "alice: end",
    ]);
});

test("[B-BRIDGE-1] who presses hears of it on the spot, and nobody else does", async () => {
  const { discord, room } = await start();
  room.propose("dock 1");
  await expect.poll(() => discord.posts.length).toBe(1);
  const id = discord.posts[0]?.body.components?.[0]?.components[0]?.custom_id ?? "";
  discord.press("mallory", id);
  await expect
    .poll(() => discord.whispers.at(-1))
    .toMatchObject({
      user: userId("mallory"),
      isEphemeral: true,
      text: expect.stringContaining("not linked"),
    });
  expect(room.moves).toEqual([]);
  discord.press("alice", id);
  await expect.poll(() => room.moves).toEqual(["dock 1"]);
});

test("a post that Discord took without saying so is not there twice", async () => {
  const { discord, bench, bob } = await start();
  discord.losesAnswers = true;
  await bob.say("once");
  await expect.poll(() => discord.posts.length).toBe(1);
  discord.losesAnswers = false;
  await bob.say("end");
  await expect.poll(() => discord.posts.map(({ text }) => text)).toEqual(["bob\nonce", "bob\nend"]);
  expect(discord.calls.filter(({ route }) => route.startsWith("POST /channels")).length).toBeGreaterThan(2);
  await bench.cut(false);
});

test("a token that is not valid is told at the start, and no connection is made", async () => {
  const { discord } = await createBench();
  const platform = createDiscordPlatform({
    token: () => "wrong",
    apiUrl: `http://127.0.0.1:${discord.port}/api`,
  });
  await expect(platform.start(nobody)).rejects.toThrow("the bot token is not valid");
  expect(discord.gateway.log).toEqual([]);
  discord.calls.splice(0);
});

test("[B-BRIDGE-1] a press that Discord does not know any more decides nothing, and is not swallowed", async () => {
  const { discord } = await createBench();
  const apiUrl = `http://127.0.0.1:${discord.port}/api`;
  const platform = createDiscordPlatform({ token: () => discordToken, apiUrl });
  const [pressed, failures] = [[] as string[], [] as string[]];
  await platform.start({
    ...nobody,
    pressed: async ({ card }) => void pressed.push(card),
    failed: (error) => void failures.push(String(error)),
  });
  onTestFinished(() => platform.close());
  discord.trouble = { status: 404, code: 10062 };
  const press = (card: string) => discord.press("alice", `approve:${card}`);
  press("one");
  await expect.poll(() => failures).toEqual([expect.stringContaining("PlatformError")]);
  expect(pressed).toEqual([]);
  // Control.
  discord.trouble = undefined;
  press("two");
  await expect.poll(() => pressed).toEqual(["two"]);
  expect(failures).toHaveLength(1);
  discord.calls.splice(0);
});

test("[B-BRIDGE-1] a reply to what is in another channel brings nothing of it here", async () => {
  const { discord, room, bob, heard } = await start();
  const { id } = await bob.say("which dock?");
  await room.isKnown(id);
  const answers: unknown[] = [];
  bob.addEventListener("envelope", ({ detail }) => answers.push(detail.correlation_id));
  const quoted = (channel: string, content: string) => ({
    ...replyTo(discord, "nothing that is known", channel),
    referenced_message: { id: "800000000000001", channel_id: channel, content },
  });
  discord.say("alice", "theirs", { extra: quoted("6666", "a secret of another channel") });
  discord.say("alice", "believed?", { extra: replyTo(discord, "which dock?", "6666") });
  discord.say("alice", "ours", { extra: quoted(discord.channel, "said before the bridge was here") });
  discord.say("alice", "dock 7", { extra: replyTo(discord, "which dock?") });
  await expect.poll(() => heard.at(-1)).toBe("alice: dock 7");
  expect(heard).toEqual([
    "alice: theirs",
    "alice: believed?",
    "alice: > said before the bridge was here\n\nours",
    "alice: dock 7",
  ]);
  expect(answers.slice(-4)).toEqual([undefined, undefined, undefined, id]);
});
