// Slack with its own libraries, against a workspace on loopback that is strict about Slack's documentation.
import { createSlackPlatform, type Verb } from "@mcpx/bridges";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { startBridgedRoom } from "./support/bridged-room.ts";
import { startProxy } from "./support/cuttable-proxy.ts";
import { nobody } from "./support/nobody.ts";
import { type PlatformBench, platformCases } from "./support/platform-cases.ts";
import { buttonsOf } from "./support/slack-blocks.ts";
import {
  type SlackWorkspace,
  slackTeam,
  slackTokens,
  startSlackWorkspace,
} from "./support/slack-workspace.ts";

const userOf = (name: string) => `U0${name.toUpperCase()}`;
let last: SlackWorkspace | undefined;

async function createBench(): Promise<PlatformBench & { workspace: SlackWorkspace }> {
  const workspace = await startSlackWorkspace();
  last = workspace;
  onTestFinished(() => workspace.close());
  const proxy = await startProxy(workspace.port);
  onTestFinished(() => proxy.close());
  return {
    workspace,
    kind: "slack",
    channel: workspace.channel,
    open: () =>
      createSlackPlatform({
        botToken: () => slackTokens.bot,
        appToken: () => slackTokens.app,
        apiUrl: workspace.apiUrl(proxy.port),
      }),
    person: async (name, shownAs = name) => ({
      key: `${slackTeam}:${userOf(name)}`,
      say: (text) => workspace.say(userOf(name), text, { shownAs }),
      reply: (text, to) =>
        workspace.say(userOf(name), text, { thread: rootOf(workspace, to) ?? "1600000000.000001", shownAs }),
      edit: async (from, to) => {
        const { ts, thread } = workspace.said.find(({ text }) => text === from) ?? {};
        await workspace.say(userOf(name), to, { ...(ts && { ts }), ...(thread && { thread }), edited: true });
      },
      tell: (text) => workspace.tell(userOf(name), text),
      press: (verb, card) => workspace.press(userOf(name), verb, card, { shownAs }),
      heard: () => workspace.whispers.filter(({ user }) => user === userOf(name)).map(({ text }) => text),
    }),
    deliver: (name, number, text) => workspace.say(userOf(name), text, { ts: `1700000900.00000${number}` }),
    limits: {
      waitMs: 1_000,
      set(isOn) {
        workspace.trouble = isOn ? { status: 429, retryAfter: "1" } : undefined;
      },
      refused: () => workspace.calls.filter(({ answer }) => answer === "429").length,
    },
    shown: () =>
      workspace.posts.map(({ text, blocks, thread }) => {
        const buttons = buttonsOf(blocks);
        const verbs = buttons.filter(({ value }) => value !== undefined);
        return {
          text,
          answers: [...workspace.posts, ...workspace.said].find(({ ts }) => ts === thread)?.text,
          card: verbs[0]?.value,
          verbs: verbs.map(({ action_id }) => action_id as Verb),
          links: buttons.flatMap(({ url }) => url ?? []),
        };
      }),
    cut: async (isDown) => proxy.cut(isDown),
    forgets() {
      workspace.forgets = true;
    },
  };
}

/** Where an answer to it goes: Slack has no threads in threads. */
function rootOf({ posts, said }: SlackWorkspace, words: string): string | undefined {
  const found = [...posts, ...said].find(({ text }) => text.includes(words));
  return found?.thread ?? found?.ts;
}

/** Whatever a test is about: Slack's documentation was kept. */
afterEach(() => {
  const refused = (last?.calls ?? []).filter(
    ({ answer }) => !["ok", "ratelimited", "429", "503"].includes(answer),
  );
  expect(refused).toEqual([]);
  expect(last?.late ?? []).toEqual([]);
  last = undefined;
});

platformCases("[X0-2.1-5]", createBench);

async function start() {
  const bench = await createBench();
  const { kind, channel, workspace } = bench;
  const room = await startBridgedRoom({ kind, channel, open: bench.open });
  const bob = await room.join("bob");
  const heard: string[] = [];
  bob.addEventListener("chat", ({ detail }) => heard.push(`${detail.from}: ${detail.text}`));
  await workspace.tell(userOf("alice"), `link ${await room.code("alice", "full")}`);
  await expect.poll(() => workspace.whispers.length).toBe(1);
  return { bench, workspace, room, bob, heard };
}

test("[X0-2.1-5] Slack takes its connections away now and then: a new one is there before, and nothing is lost", async () => {
  const { workspace, heard } = await start();
  const opened = () => workspace.calls.filter(({ method }) => method === "apps.connections.open").length;
  expect(opened()).toBe(1);
  await workspace.refresh();
  // While there is none, Slack keeps what is said.
  await workspace.say(userOf("alice"), "said meanwhile");
  // The library alone would come back after five seconds at the earliest.
  await expect.poll(() => heard, { timeout: 4_000 }).toEqual(["alice: said meanwhile"]);
  expect(opened()).toBe(2);
  expect(workspace.connections()).toBe(1);
});

test("[X0-2.1-5] edits are said as edits, files are links", async () => {
  const { workspace, heard } = await start();
  const alice = userOf("alice");
  await workspace.say(alice, "first", { ts: "1700000900.000002" });
  await workspace.say(alice, "first, better", { ts: "1700000900.000002", edited: true });
  await workspace.say(alice, "look", {
    files: [{ name: "map.png", permalink: "https://mcpx.slack.com/files/1" }],
  });
  await expect
    .poll(() => heard)
    .toEqual([
      "alice: first",
      "alice: (edited) first, better",
      "alice: look\nmap.png: https://mcpx.slack.com/files/1",
    ]);
});

test("[X0-2.1-5] of more than 2 000 missed messages the newest are copied, and the room and the channel are told once how many were not", async () => {
  const { bench, workspace, room, heard } = await start();
  bench.forgets?.();
  await bench.cut(true);
  await expect.poll(() => workspace.connections()).toBe(0);
  // By somebody who is not linked: none of it is chat of the room, all of it is of the channel.
  for (let n = 0; n < 2_345; n += 1) await workspace.say(userOf("mallory"), `missed ${n}`);
  await workspace.say(userOf("alice"), "the newest");
  await bench.cut(false);
  await expect.poll(() => heard.at(-1)).toBe("alice: the newest");
  const notice =
    "346 messages of the channel were not copied into the room: the bridge was away, and brings the newest only";
  expect(heard).toEqual([`bridge:team: ${notice}`, "alice: the newest"]);
  await expect.poll(() => workspace.posts.map(({ text }) => text)).toEqual([`bridge:team\n${notice}`]);
  await room.restart();
  await workspace.say(userOf("alice"), "later");
  await expect.poll(() => heard.at(-1)).toBe("alice: later");
  expect(heard).toHaveLength(3);
});

test("[B-BRIDGE-1] the same user id of another team is another person", async () => {
  const { workspace, room } = await start();
  room.propose("dock 1");
  await expect.poll(() => workspace.posts.length).toBe(1);
  const card = buttonsOf(workspace.posts[0]?.blocks ?? [])[0]?.value ?? "";
  await workspace.press(userOf("alice"), "approve", card, { team: "T0OTHER" });
  await expect.poll(() => workspace.whispers.at(-1)?.text).toContain("You are not linked");
  expect(room.moves).toEqual([]);
  await workspace.press(userOf("alice"), "approve", card);
  await expect.poll(() => room.moves).toEqual(["dock 1"]);
});

test("a post waits while the app is not in the channel, and is there when somebody has invited it", async () => {
  const { workspace, room, bob } = await start();
  workspace.isInvited = false;
  await bob.say("is anybody there?");
  const admin = await room.server.adminToken();
  const fault = async () =>
    (await room.server.call("GET", "/admin/bridges", admin)).body.bridges[0].channels[0].fault;
  await expect.poll(fault).toContain("invite the app to the channel");
  workspace.isInvited = true;
  await expect.poll(() => workspace.posts.map(({ text }) => text)).toEqual(["bob\nis anybody there?"]);
  workspace.calls.splice(0);
});

test("a token that is not valid is told at the start, and no connection is made", async () => {
  const { workspace } = await createBench();
  const platform = createSlackPlatform({
    botToken: () => "xoxb-9-wrong",
    appToken: () => slackTokens.app,
    apiUrl: workspace.apiUrl(),
  });
  await expect(platform.start(nobody)).rejects.toThrow("Slack refused auth.test: invalid_auth");
  expect(workspace.connections()).toBe(0);
  workspace.calls.splice(0);
});

test("[X0-2.1-5] a connection that cannot be made again is told, and tried until it is there", async () => {
  const { workspace } = await createBench();
  const failures: string[] = [];
  const platform = createSlackPlatform({
    botToken: () => slackTokens.bot,
    appToken: () => slackTokens.app,
    apiUrl: workspace.apiUrl(),
  });
  let found = 0;
  await platform.start({
    ...nobody,
    lost: (error) => void failures.push(String(error)),
    found: () => {
      found += 1;
    },
  });
  onTestFinished(() => platform.close());
  expect(failures).toEqual([]);
  workspace.trouble = { status: 503 };
  await workspace.refresh();
  await expect.poll(() => failures[0]).toContain("Slack's Socket Mode cannot be reached");
  workspace.trouble = undefined;
  await expect.poll(() => workspace.connections()).toBe(1);
  await expect.poll(() => found).toBe(1);
});
