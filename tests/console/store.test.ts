// The console's store against a real gateway, without a browser.
import { joinRoom, type Room } from "@mcpx/client";
import type { TokenClaims } from "@mcpx/host";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type App, createApp } from "../../packages/console/src/store/app.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { serveTools } from "./support/serve-tools.ts";
import { visit } from "./support/visitor.ts";

let server: TestServer;
const apps: App[] = [];
const rooms: Room[] = [];

beforeAll(async () => {
  server = await startTestServer();
});
afterEach(async () => {
  await Promise.all([
    ...apps.splice(0).map((app) => app.stop()),
    ...rooms.splice(0).map((room) => room.close()),
  ]);
});
afterAll(() => server.stop());

async function open(first = "t1"): Promise<App> {
  let tab = first;
  const visitor = await visit(server);
  const app = createApp({
    origin: server.url,
    half: () => visitor.half,
    tab: () => tab,
    renameTab: () => {
      tab = `${tab}x`;
    },
    fetch: (path, init) =>
      fetch(new URL(String(path), server.url), {
        ...init,
        headers: { ...(init?.headers as Record<string, string>), cookie: visitor.cookie, origin: server.url },
      }),
    later: (work) => setTimeout(work, 0),
    isHidden: () => false,
  });
  apps.push(app);
  return app;
}

async function join(topic: string, claims: Omit<TokenClaims, "topics">): Promise<Room> {
  const token = await server.token({ topics: [topic], ...claims });
  const room = await joinRoom({ url: server.url, topic, token });
  rooms.push(room);
  return room;
}

/** A room with a robot and a restricted agent. */
async function scene(topic: string): Promise<{ agent: Room; called: unknown[] }> {
  const robot = await join(topic, { sub: `${topic}-robot`, level: "responder", kind: "robot" });
  const called: unknown[] = [];
  await robot.serve(serveTools(called));
  const agent = await join(topic, { sub: `${topic}-agent`, level: "restricted", kind: "agent" });
  return { agent, called };
}

const wish = (topic: string, args: object) => ({
  to: `${topic}-robot`,
  method: "tools/call",
  params: { name: "heat", arguments: { ...args } },
});
const waiting = (app: App) => app.deck.get().waiting;

test("what programs ask each other is no news to a person, and neither is what their own pages do", async () => {
  const { agent } = await scene("pantry");
  const asker = await join("pantry", { sub: "asker", level: "full", kind: "agent" });
  const app = await open();
  const room = app.open("pantry");
  await expect.poll(() => room.view.get().state).toBe("live");
  await agent.say("good morning");
  const newest = () => room.timeline.rows.at(-1)?.envelope;
  await expect.poll(() => newest()?.payload.text).toBe("good morning");
  await expect.poll(() => room.view.get().newsSeq).toBe(newest()?.seq);
  const { newsSeq } = room.view.get();
  await asker.peer("pantry-robot").listTools();
  await room.say("good morning to you");
  await expect.poll(() => newest()?.payload.text).toBe("good morning to you");
  expect(newest()?.seq).toBeGreaterThan(newsSeq + 1);
  // What is published now knows of these.
  const { version } = room.view.get();
  room.setFilter({});
  expect(room.view.get()).toMatchObject({ version: version + 1, newsSeq });
  await agent.say("it is warm");
  await expect.poll(() => newest()?.payload.text).toBe("it is warm");
  await expect.poll(() => room.view.get().newsSeq).toBe(newest()?.seq);
});

test("[X1-8-1] a proposal of any room waits on the deck; approved, it happens once and says by whom", async () => {
  const { agent, called } = await scene("bakery");
  const app = await open();
  const { result } = agent.propose(wish("bakery", { celsius: 220 }));
  await expect.poll(() => waiting(app).length).toBe(1);
  const [item] = waiting(app);
  expect(item).toMatchObject({ kind: "proposal", who: "bakery-agent", tool: "heat", args: { celsius: 220 } });
  if (item?.kind !== "proposal") throw new Error("no proposal");
  await app.open("bakery").approve(item.proposal);
  expect(await result).toMatchObject({ content: [{ text: "done" }] });
  expect(called).toEqual([{ celsius: 220 }]);
  await expect
    .poll(() => app.deck.get().settled[0]?.outcome.long)
    .toMatch(/^Approved by .+ \(console\)\. .*is done/);
  expect(waiting(app)).toEqual([]);
});

test("[X1-4.2.1-2] edited, another call is made, and everybody sees that it was changed", async () => {
  const { agent, called } = await scene("smithy");
  const app = await open();
  agent.propose(wish("smithy", { celsius: 900 }));
  await expect.poll(() => waiting(app).length).toBe(1);
  const [item] = waiting(app);
  if (item?.kind !== "proposal") throw new Error("no proposal");
  await app.open("smithy").approve(item.proposal, { edited: { celsius: 200 } });
  expect(called).toEqual([{ celsius: 200 }]);
  await expect.poll(() => app.deck.get().settled[0]?.outcome.long).toContain("changed");
});

test("rejected, the agent hears why and nothing happens", async () => {
  const { agent, called } = await scene("kiln");
  const heard: unknown[] = [];
  agent.addEventListener("proposal", ({ detail: { type, proposal } }) => {
    if (type === "advice") heard.push(proposal.rejections.at(-1)?.reason);
  });
  const app = await open();
  agent.propose(wish("kiln", { celsius: 1 }));
  await expect.poll(() => waiting(app).length).toBe(1);
  const [item] = waiting(app);
  if (item?.kind !== "proposal") throw new Error("no proposal");
  await app.open("kiln").reject(item.proposal, "not today");
  await expect.poll(() => waiting(app).length).toBe(0);
  await expect.poll(() => heard).toEqual(["not today"]);
  expect(app.deck.get().settled[0]?.outcome.long).toMatch(
    /^Rejected by .*“not today” No call was made for it\.$/,
  );
  expect(called).toEqual([]);
});

test("several pages of one person are several members, and each sees what the other decided", async () => {
  const { agent } = await scene("attic");
  const [one, two] = [await open("t1"), await open("t2")];
  agent.propose(wish("attic", {}));
  await expect.poll(() => [waiting(one).length, waiting(two).length]).toEqual([1, 1]);
  const [item] = waiting(one);
  if (item?.kind !== "proposal") throw new Error("no proposal");
  await one.open("attic").approve(item.proposal);
  await expect.poll(() => two.deck.get().settled[0]?.outcome.long).toMatch(/^Approved by .+ \(console\)/);
});

test("a copy of a page has its name: the one that is pushed out takes another, and stays", async () => {
  await scene("loft");
  const first = await open("same");
  await expect.poll(() => first.rooms.get().get("loft")?.view.get().state).toBe("live");
  const second = await open("same");
  const idOf = (app: App) => {
    const { state, id } = app.rooms.get().get("loft")?.view.get() ?? {};
    return state === "live" ? id : state;
  };
  await expect.poll(() => idOf(first)).toMatch(/@console\.samex$/);
  await expect.poll(() => idOf(second)).toMatch(/@console\.same$/);
});

test("a restart of the gateway loses no line, and nobody has to log in again", async () => {
  const { agent } = await scene("cellar");
  const app = await open();
  const room = app.open("cellar");
  await expect.poll(() => room.view.get().state).toBe("live");
  await agent.say("before");
  await server.restart();
  await agent.say("after");
  const texts = () => room.timeline.rows.flatMap(({ envelope: { payload } }) => payload.text ?? []);
  await expect.poll(texts).toEqual(["before", "after"]);
  await expect.poll(() => app.isLost.get()).toBe(false);
  expect(app.session.get()).toMatchObject({ isDemo: false });
});

test("logged out, the page is nowhere any more", async () => {
  await scene("porch");
  const app = await open("t9");
  await expect.poll(() => app.rooms.get().get("porch")?.view.get().state).toBe("live");
  await app.logOut();
  expect(app.session.get()).toBeNull();
  await expect.poll(() => app.rooms.get().size).toBe(0);
  const token = await server.adminToken();
  const { body } = await server.call("GET", "/admin/connections", token);
  expect(JSON.stringify(body)).not.toContain("@console.t9");
});
