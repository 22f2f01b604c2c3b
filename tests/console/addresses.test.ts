// Every view, room, envelope, gate, server, tool and filter has an address: Back, reload, a new tab and a shared link work.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, goToTool, openCard, openScreen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

const pathOf = (page: Page) => page.url().slice(new URL(page.url()).origin.length);
const view = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("views are links, Back leads to the one before, and a reload stays", slow, async () => {
  const { page, context, errors } = await openScreen(browser, await scene.link());
  const link = (name: string) => page.getByRole("link", { name, exact: true });
  await link("# bakery").or(link("bakery")).first().click();
  await expect.poll(() => pathOf(page)).toBe("/console/rooms/bakery");
  for (const [name, path] of [
    ["Topology", "/console/topology"],
    ["Decisions", "/console/decisions"],
    ["Metrics", "/console/metrics"],
    ["Audit", "/console/audit"],
    ["Rules and grants", "/console/rules"],
    ["Devices", "/console/devices"],
    ["Backups", "/console/backups"],
    ["Tokens", "/console/tokens"],
    ["Servers", "/console/servers"],
    ["Bridges", "/console/bridges"],
  ] as const) {
    await link(name).click();
    await view(page, name).waitFor();
    expect(pathOf(page)).toBe(path);
    await page.reload();
    await view(page, name).waitFor();
  }
  await page.goBack();
  await view(page, "Servers").waitFor();
  await page.goBack();
  await view(page, "Tokens").waitFor();
  await page.goBack();
  await view(page, "Backups").waitFor();
  await page.goForward();
  await view(page, "Tokens").waitFor();
  // The same in a tab of its own.
  const [tab] = await Promise.all([
    context.waitForEvent("page"),
    link("Audit").click({ modifiers: ["ControlOrMeta"] }),
  ]);
  await view(tab, "Audit").waitFor();
  expect(pathOf(page)).toBe("/console/tokens");
  expect(errors).toEqual([]);
  await context.close();
});

test("filters and windows of time stand in the address", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  await page.getByRole("link", { name: "Audit", exact: true }).click();
  await page.getByRole("searchbox", { name: "Search the audit" }).fill("console.login");
  await expect.poll(() => pathOf(page)).toBe("/console/audit?search=console.login");
  await page.reload();
  await expect
    .poll(() => page.getByRole("searchbox", { name: "Search the audit" }).inputValue())
    .toBe("console.login");
  await page.getByRole("link", { name: "Decisions", exact: true }).click();
  await page.getByRole("button", { name: "24 h" }).click();
  expect(pathOf(page)).toBe("/console/decisions?window=24+h");
  await page.goBack();
  await view(page, "Audit").waitFor();
  expect(await page.getByRole("searchbox", { name: "Search the audit" }).inputValue()).toBe("console.login");
  await page.getByRole("link", { name: "bakery" }).first().click();
  await page.getByRole("button", { name: "Sequence" }).click();
  await expect.poll(() => pathOf(page)).toBe("/console/rooms/bakery?picture=sequence");
  await page.reload();
  expect(await page.getByRole("button", { name: "Sequence" }).getAttribute("aria-pressed")).toBe("true");
  await context.close();
});

test("an envelope far back is found by its address", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  const chatty = await scene.join({ sub: "chatty", level: "full", kind: "human" });
  await chatty.say("needle in the hay");
  for (let at = 0; at < 300; at += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => chatty.say(`hay ${at + i}`)));
  }
  await page.getByRole("link", { name: "bakery" }).first().click();
  await page.getByText("hay 299").waitFor();
  await page.getByText("hay 299").click();
  await page.getByRole("complementary", { name: "Envelope" }).waitFor();
  expect(pathOf(page)).toMatch(/^\/console\/rooms\/bakery\/envelopes\/.+/);
  await page.goBack();
  await expect.poll(() => page.getByRole("complementary", { name: "Envelope" }).count()).toBe(0);
  const { envelopes } = await chatty.history({ limit: 1_000 });
  const needle = envelopes.find(({ payload }) => payload.text === "needle in the hay");
  await page.goto(new URL(`/console/rooms/bakery/envelopes/${needle?.id}`, page.url()).href);
  await page.getByRole("complementary", { name: "Envelope" }).getByText("needle in the hay").waitFor();
  await page.getByRole("region", { name: "Envelopes" }).getByText("needle in the hay").waitFor();
  // The control: what never was is said not to be there, and no room comes of an address.
  await page.goto(new URL("/console/rooms/bakery/envelopes/never-was", page.url()).href);
  await page.getByText("The envelope of this address is not kept here.").waitFor();
  await page.goto(new URL("/console/rooms/made-up", page.url()).href);
  await page.getByText("There is no room made-up now.").waitFor();
  expect(await page.getByRole("navigation").getByText("made-up").count()).toBe(0);
  await chatty.close();
  await context.close();
});

test("a gate, a tool and a server have addresses", slow, async () => {
  const { page, context, errors } = await openScreen(browser, await scene.link());
  void scene.shred({ path: "/tmp/addressed" });
  await page.getByRole("link", { name: "bakery" }).first().click();
  await openCard(page, "office.shred");
  await page.getByTitle("The address of this card").click();
  const gate = view(page, "Gate");
  await gate.getByText("/tmp/addressed").waitFor();
  expect(pathOf(page)).toMatch(/^\/console\/gates\/.+/);
  await page.reload();
  await gate.getByText("/tmp/addressed").waitFor();
  expect(await cards(page).filter({ hasText: "office.shred" }).count()).toBe(0);
  await gate.getByRole("button", { name: "Reject …" }).click();
  await page.getByRole("button", { name: "Make a key in this browser" }).click();
  await page.getByRole("button", { name: "Reject and sign" }).click();
  await gate.getByText(/^Rejected by/).waitFor();
  // Also after it was decided.
  await page.reload();
  await gate.getByText(/^Rejected by/).waitFor();
  await goToTool(page, "office", "shred");
  await view(page, "Tool").getByText("office.shred").waitFor();
  expect(pathOf(page)).toBe("/console/tools/office.shred");
  await page.reload();
  await view(page, "Tool").getByRole("button", { name: "Call" }).waitFor();
  await page.getByRole("navigation").getByRole("link", { name: "office" }).first().click();
  expect(pathOf(page)).toBe("/console/servers/office");
  expect(errors).toEqual([]);
  await context.close();
});

test(
  "a shared address asks for a login and comes back, in a new tab and in the one that asked",
  slow,
  async () => {
    const link = await scene.link();
    const asked = new URL("/console/audit?search=console", link).href;
    const { page, context } = await openScreen(browser, asked);
    await page.getByText("You are not logged in.").waitFor();
    const tab = await context.newPage();
    await tab.goto(link);
    await view(tab, "Audit").waitFor();
    expect(tab.url()).toBe(asked);
    await view(page, "Audit").waitFor();
    // Once: the next link leads where it always did.
    const later = await context.newPage();
    await later.goto(await scene.link());
    await later.getByRole("link", { name: "bakery" }).first().waitFor();
    expect(new URL(later.url()).pathname).toBe("/");
    await context.close();
  },
);
