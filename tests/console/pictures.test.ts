// The console's pictures in a real Chromium: a conversation as arrows, the tree with how it is, decisions on a line of
// time, figures; and that nothing strangers are called can draw what is not so.
import { randomUUID } from "node:crypto";
import type { Room } from "@mcpx/client";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import {
  dangerous,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "../tree/registration/support/raw-registrant.ts";
import { callTool } from "../tree/support/ask.ts";
import { axeFaults } from "./support/axe.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { openScreen, type Screen } from "./support/screen.ts";
import { visit } from "./support/visitor.ts";

let browser: Browser;
let scene: Scene;
let screen: Screen;
let anna: Room;
const slow = { timeout: 120_000 };

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
  anna = await scene.join({ sub: "anna", level: "full", kind: "human" });
  screen = await openScreen(browser, await scene.link());
  await screen.page.getByRole("link", { name: "bakery" }).waitFor();
}, 60_000);

afterAll(async () => {
  expect(screen.errors).toEqual([]);
  expect(screen.origins.size).toBe(1);
  await browser.close();
  await scene.end();
});

/** By the palette, which is there at every width. */
async function find(page: Page, words: string): Promise<void> {
  // Keys are for those who are logged in and in a room.
  await page.getByRole("heading", { name: "bakery" }).or(page.locator(".sheet")).first().waitFor();
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "What do you want to do?" }).fill(words);
  await page.keyboard.press("Enter");
}

async function go(page: Page, name: string): Promise<Locator> {
  await find(page, name);
  const region = page.getByRole("region", { name, exact: true });
  await region.getByRole("heading", { name }).waitFor();
  return region;
}

async function goToSequence(page: Page): Promise<Locator> {
  await find(page, "Room: bakery");
  await page.getByRole("button", { name: "Sequence" }).click();
  const sequence = page.getByRole("region", { name: "Sequence" });
  await sequence.waitFor();
  return sequence;
}

const arrows = (sequence: Locator) =>
  sequence.getByRole("list", { name: "Envelopes, oldest first" }).getByRole("button");
const spoken = async (locator: Locator) =>
  (await locator.allTextContents()).map((text) => text.replaceAll(/\s+/g, " ").trim());
const pendingOf = async (room: Room) => {
  await expect.poll(() => room.proposals.pending().length).toBeGreaterThan(0);
  const [first] = room.proposals.pending();
  if (first === undefined) throw new Error("nothing waits");
  return first;
};

test(
  "[X1-4.2.1-2] a conversation is drawn: a call with its answer, a proposal with what came of it",
  slow,
  async () => {
    const { page } = screen;
    const sequence = await goToSequence(page);
    await anna.say("Bread at eight?");
    await anna.peer("robot").callTool("heat", { celsius: 180 });
    scene.propose({ celsius: 230 }, "bread");
    await anna.proposals.fulfil(await pendingOf(anna));
    const { withdraw } = scene.propose({ celsius: 900 }, "quick");
    await anna.proposals.reject(await pendingOf(anna), { reason: "far too hot" });
    await withdraw();
    await sequence.getByRole("button", { name: /withdrew/ }).waitFor();
    const columns = await spoken(sequence.getByRole("list", { name: "Taking part" }).getByRole("listitem"));
    expect(columns).toEqual(expect.arrayContaining(["anna", "robot", "agent"]));
    const drawn = (await spoken(arrows(sequence))).filter((text) => !/joined|left/.test(text));
    expect(drawn).toEqual([
      "anna to everybody: Bread at eight?",
      'anna to robot: called heat {"celsius":180}',
      expect.stringMatching(/^robot to anna: answered done [\d.]+ m?s after the call$/),
      'agent to robot: 1. proposal, proposes heat {"celsius":230}',
      'anna to robot: 1. proposal, approved: ✓called heat {"celsius":230}',
      expect.stringMatching(/^robot to anna, agent: 1\. proposal, answered done [\d.]+ m?s after the call$/),
      'agent to robot: 2. proposal, proposes heat {"celsius":900}',
      "anna to agent: 2. proposal, ✕rejected far too hot",
      "agent to everybody: 2. proposal, withdrew",
    ]);
    // The picture itself: as many lines with heads as there are arrows, and a bar for each call.
    expect(await sequence.locator("svg .arrow").count()).toBe(drawn.length);
    expect(await sequence.locator("svg .work:not(.open)").count()).toBe(2);
    expect(await sequence.locator("svg .arrow.proposal path").count()).toBe(2);
  },
);

test("an arrow shows its envelope, and its thread alone; both by keys", slow, async () => {
  const { page } = screen;
  const sequence = await goToSequence(page);
  await sequence.getByRole("button", { name: /proposes heat.*230/ }).click();
  const envelope = sequence.getByRole("complementary", { name: "Envelope" });
  await envelope.getByText("mcp/proposal").waitFor();
  expect(await envelope.textContent()).toContain("celsius");
  await envelope.getByRole("button", { name: "Show its thread" }).click();
  await expect.poll(() => arrows(sequence).count()).toBe(3);
  // What comes next is in the picture where it belongs there, and only there.
  await anna.say("elsewhere");
  await sequence.getByRole("button", { name: /one thread/ }).click();
  await sequence.getByRole("button", { name: /elsewhere/ }).waitFor();
  await sequence.getByRole("button", { name: /elsewhere/ }).focus();
  await page.keyboard.press("ArrowUp");
  expect(await page.evaluate("document.activeElement.textContent")).toContain("withdrew");
  await page.keyboard.press("Enter");
  await envelope.getByText("mcpx.withdraw.proposal").waitFor();
  await page.getByRole("button", { name: "Timeline" }).click();
  await page.getByRole("region", { name: "Timeline" }).getByText("elsewhere").waitFor();
});

test("[AX-13.2-2] a server that is lost is shown so, and again when it has come back", slow, async () => {
  const { page } = screen;
  const id = randomUUID();
  const come = async () => {
    const token = await scene.server.token({
      sub: "of:lathe",
      topics: [],
      segment: "lathe",
      scope: "write",
    } as never);
    const tools = [toolOf("turn"), toolOf("cut", dangerous)];
    const registrant = await rawRegistrant(scene.server.url, token, { parentId: null, tools });
    await registrant.register(registrationOf("lathe", { subserver_id: id }));
    return registrant;
  };
  const first = await come();
  const topology = await go(page, "Topology");
  const node = topology.getByRole("listitem").filter({ hasText: "lathe" });
  await node.getByText("up", { exact: true }).waitFor();
  await node.getByText("1 irreversible").waitFor({ timeout: 20_000 });
  const place = {
    url: `${scene.server.url}/mcp`,
    token: await scene.server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
  await callTool(place, "lathe.turn", {});
  await node.getByText(/p50 .* p95 /).waitFor();
  first.cut();
  await node.getByText("degraded", { exact: true }).waitFor();
  // Told by a shape too.
  expect(await node.locator("svg.degraded path").count()).toBe(1);
  await node.getByRole("button").click();
  await topology.getByRole("complementary", { name: "Details" }).getByText("Lost:").waitFor();
  await topology.getByText("1 degraded").waitFor();
  const again = await come();
  await node.getByText("up", { exact: true }).waitFor();
  expect(await node.locator("svg.degraded").count()).toBe(0);
  // The rooms are part of it, with who is there.
  const room = topology.getByRole("listitem").filter({ hasText: "bakery" }).first();
  expect(await room.textContent()).toContain("live");
  expect(await topology.getByRole("listitem").filter({ hasText: "below bakery" }).count()).toBeGreaterThan(2);
  again.cut();
});

test("a decision appears on the line of time and in the figures, counted once", slow, async () => {
  const { page } = screen;
  const figures = await go(page, "Metrics");
  const countsOf = async () => {
    const table = figures.getByRole("table", { name: "Proposals and gates by outcome", includeHidden: true });
    const rows = await table.locator("tbody tr").allTextContents();
    return Object.fromEntries(
      rows.map((row) => [row.replaceAll(/\d/g, "").trim(), Number(row.replaceAll(/\D/g, ""))]),
    );
  };
  await expect.poll(countsOf).toMatchObject({ approved: 1, rejected: 1, waiting: 0 });
  scene.propose({ celsius: 77 }, "again");
  await expect.poll(countsOf).toMatchObject({ approved: 1, rejected: 1, waiting: 1 });
  const waiting = await pendingOf(anna);
  await anna.proposals.fulfil(waiting);
  await expect.poll(countsOf).toMatchObject({ approved: 2, rejected: 1, waiting: 0 });
  const decisions = await go(page, "Decisions");
  const rows = decisions.getByRole("row").filter({ hasText: "approved" });
  await expect.poll(() => rows.count()).toBe(2);
  const [newest = ""] = await spoken(rows);
  expect(newest).toMatch(/heatin bakeryagent✓ approveddoneanna\d/);
  expect(await decisions.locator(".lanes g.approved").count()).toBe(2);
  expect(await decisions.locator(".lanes g.rejected").count()).toBe(1);
});

test("[AX-11.3-1] a call at a gate is a decision too; calls and errors are counted", slow, async () => {
  const { page } = screen;
  void scene.shred({ paper: "drafts" });
  const decisions = await go(page, "Decisions");
  const row = decisions.getByRole("row").filter({ hasText: "office.shred" });
  await row.getByText("waiting").waitFor();
  expect(await row.textContent()).toContain("so far");
  const place = {
    url: `${scene.server.url}/mcp`,
    token: await scene.server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
  await callTool(place, "office.look", {});
  await callTool(place, "office.nothing", {});
  const visitor = await visit(scene.server);
  const { body } = await visitor.call("GET", "/console/api/figures");
  const { calls, reasons } = body as {
    calls: Record<string, { answered: number }>;
    reasons: Record<string, number>;
  };
  expect(calls.office?.answered).toBeGreaterThanOrEqual(1);
  const figures = await go(page, "Metrics");
  const errors = figures.getByRole("figure").filter({ hasText: "Errors of calls" });
  const [word = ""] = Object.keys(reasons);
  expect(word).not.toBe("");
  await errors.getByRole("listitem").filter({ hasText: word }).waitFor();
  await errors.getByText(/since the start/).waitFor();
});

test("[AX-12-7] what a server says too much of is counted where it is dropped", slow, async () => {
  const { page } = screen;
  const token = await scene.server.token({ sub: "of:chatty", topics: [], segment: "chatty" } as never);
  const chatty = await rawRegistrant(scene.server.url, token, { parentId: null, tools: [toolOf("t")] });
  await chatty.register(registrationOf("chatty"));
  const figures = await go(page, "Metrics");
  const dropped = figures.getByRole("figure").filter({ hasText: "Dropped notifications" });
  await dropped.getByText("None: no server has sent more notifications than the limit.").waitFor();
  await expect.poll(() => chatty.asked.some(({ method }) => method === "tools/list")).toBe(true);
  for (let i = 0; i < 1_500; i += 1) chatty.notify("notifications/message", { level: "info", data: i });
  const bar = dropped.getByRole("listitem").filter({ hasText: "chatty" });
  await bar.waitFor();
  // A hundred go in a second, a thousand wait.
  const counted = async () =>
    Number((await bar.locator(".count").first().textContent())?.replaceAll(",", ""));
  await expect.poll(counted).toBeGreaterThan(0);
  const { body } = await (await visit(scene.server)).call("GET", "/console/api/figures");
  await expect.poll(counted).toBe((body.dropped as { total: number }).total);
  chatty.cut();
});

test("[X1-8-1] figures are for whoever is logged in, and for nobody else", slow, async () => {
  const { url } = scene.server;
  expect((await fetch(`${url}/console/api/figures`)).status).toBe(401);
  const visitor = await visit(scene.server);
  expect(
    (await visitor.call("GET", "/console/api/figures", { headers: { "x-mcpx-console": "wrong" } })).status,
  ).toBe(401);
  expect((await visitor.call("GET", "/console/api/figures")).status).toBe(200);
});

test(
  "[X0-9-2] names and words of strangers are drawn as text, with what hides in them named",
  slow,
  async () => {
    const { page, context, errors } = await openScreen(browser, await scene.link());
    const markup = `<svg onload="document.title='owned'"><script>document.title='owned'</script>`;
    const mallory = await scene.join({ sub: "mallory+x/y", level: "full", kind: "human", name: markup });
    await mallory.say(`${markup} photo\u202egpj.exe\u200b`);
    const { withdraw } = scene.propose({ a: 1 }, markup, `h\u0435at\u202e${markup.slice(0, 20)}`);
    const sequence = await goToSequence(page);
    await sequence.getByRole("button", { name: /photoU\+202Egpj\.exeU\+200B/ }).waitFor();
    const text = (await sequence.textContent()) ?? "";
    expect(text).toContain("<svg onload=");
    expect(text).toContain("U+202E");
    const decisions = await go(page, "Decisions");
    const row = decisions.getByRole("row").filter({ hasText: "hеatU+202E" });
    await row.waitFor();
    expect(await row.textContent()).toContain("This name has signs in it that cannot be seen");
    await go(page, "Topology");
    await page.getByRole("listitem").filter({ hasText: "mallory+x/y" }).first().waitFor();
    for (const view of ["Topology", "Metrics", "Decisions"]) {
      await go(page, view);
      expect(await page.locator("#app").locator("script, iframe, [onload]").count()).toBe(0);
    }
    expect(await page.title()).not.toContain("owned");
    expect(errors).toEqual([]);
    await withdraw();
    await mallory.close();
    await context.close();
  },
);

test.each([
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 390 },
] as const)(
  "axe finds nothing wrong with the pictures, $colorScheme, $width pixels wide",
  slow,
  async (how) => {
    const { colorScheme, width } = how;
    // In the dark only colours are others.
    const rules = colorScheme === "dark" ? ["color-contrast"] : undefined;
    const viewport = { width, height: 844 };
    const { page, context } = await openScreen(browser, await scene.link(), {
      colorScheme,
      viewport,
      bypassCSP: true,
    });
    const sequence = await goToSequence(page);
    await arrows(sequence).last().click();
    await sequence.getByRole("complementary", { name: "Envelope" }).waitFor();
    expect(["Sequence", ...(await axeFaults(page, rules))]).toEqual(["Sequence"]);
    for (const name of ["Topology", "Decisions", "Metrics"]) {
      const region = await go(page, name);
      if (name === "Decisions") await region.getByRole("row").nth(2).waitFor();
      if (name === "Topology")
        await region.getByRole("listitem").filter({ hasText: "office" }).first().getByRole("button").click();
      if (name === "Metrics")
        await region
          .getByRole("figure")
          .filter({ hasText: "Calls by server" })
          .getByText("As a table")
          .click();
      expect([name, ...(await axeFaults(page, rules))]).toEqual([name]);
      // Nothing but what scrolls by itself is wider than the page.
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
      expect(
        await page.evaluate(
          "document.querySelector('.sheet').scrollWidth - document.querySelector('.sheet').clientWidth",
        ),
      ).toBeLessThanOrEqual(0);
    }
    await context.close();
  },
);

test("axe would find a picture without a name: the control", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link(), { bypassCSP: true });
  await go(page, "Topology");
  await page.evaluate(
    "document.querySelector('.sheet').append(Object.assign(document.createElement('div'), { role: 'img' }))",
  );
  expect((await axeFaults(page)).join()).toContain("role-img-alt");
  await context.close();
});

test("of a loud room only the last two hundred are drawn, and it is said", slow, async () => {
  const { page } = screen;
  const loud = await scene.join({ sub: "loud", level: "full", kind: "human" });
  await Promise.all(Array.from({ length: 190 }, (_, i) => loud.say(`line ${i}`)));
  const sequence = await goToSequence(page);
  await sequence.getByRole("button", { name: /line 189/ }).waitFor();
  await loud.say("the last line");
  await sequence.getByRole("button", { name: /the last line/ }).waitFor();
  await sequence.getByText(/^the last 200 of \d+$/).waitFor();
  // Only those that can be seen are there.
  expect(await arrows(sequence).count()).toBeLessThan(60);
  // Who looks back is not carried away, and is told that there is more.
  await arrows(sequence).last().focus();
  await page.keyboard.press("Home");
  await loud.say("more of it");
  await sequence.getByRole("button", { name: "1 new" }).waitFor();
  expect(await sequence.getByRole("button", { name: /more of it/ }).count()).toBe(0);
  await sequence.getByRole("button", { name: "1 new" }).click();
  await sequence.getByRole("button", { name: /more of it/ }).waitFor();
  await loud.close();
});
