// A page that slept, or whose gateway was started anew, shows every line once and in order, whatever came meanwhile; so
// does each of several pages.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { allLines, lineCount, searchLines } from "./support/lines.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, openScreen, type Screen } from "./support/screen.ts";
import { putToSleep } from "./support/sleep.ts";

let browser: Browser;
let scene: Scene;
let wake = () => {};
const slow = { timeout: 240_000 };
const many = 500;

beforeAll(async () => {
  [browser, scene] = await Promise.all([
    openBrowser(),
    // Who is silent for so long is taken for gone: a night is short here.
    startScene({ limits: { envelopesPerSecondFull: 10_000, pingIntervalMs: 500, pingTimeoutMs: 2_000 } }),
  ]);
}, 60_000);

afterAll(async () => {
  wake();
  await browser.close();
  await scene.end();
});

const named = (word: string, count = many) => Array.from({ length: count }, (_, i) => `${word} ${i}`);

/** Said by one, in order, and on the disk of the gateway. */
async function say(lines: readonly string[]): Promise<void> {
  const chatty = await scene.join({ sub: "chatty", level: "full", kind: "human" });
  await Promise.all(lines.map((line) => chatty.say(line)));
  await chatty.close();
}

async function fallAsleep(): Promise<void> {
  const awake = await putToSleep(browser);
  wake = () => {
    wake = () => {};
    awake();
  };
}

/** Who the gateway has in its rooms from consoles. */
async function pagesHere(): Promise<number> {
  const { body } = await scene.server.call("GET", "/admin/connections", await scene.server.adminToken());
  return JSON.stringify(body).match(/@console\./g)?.length ?? 0;
}

async function open(): Promise<Screen> {
  const screen = await openScreen(browser, await scene.link());
  await searchLines(screen.page, "");
  return screen;
}

async function openBeside({ page, context }: Screen): Promise<Page> {
  const other = await context.newPage();
  await other.goto(new URL(page.url()).origin);
  await searchLines(other, "");
  return other;
}

/** All of them, each once. */
async function showsAll(page: Page, word: string, count = many): Promise<void> {
  await page.bringToFront();
  await searchLines(page, word);
  await expect.poll(() => lineCount(page), { timeout: 60_000 }).toBe(count);
  expect(await allLines(page)).toEqual(named(word, count));
}

test(
  "asleep while 500 lines come and a gate opens: awake, it shows all of it once and in order",
  slow,
  async () => {
    const screen = await open();
    const { page, context, errors } = screen;
    await say(["good night"]);
    await page.getByText("good night").waitFor();
    await fallAsleep();
    await say(named("slept"));
    void scene.shred({ paper: "by night" });
    // The control: it was asleep, and long enough to be taken for gone.
    await expect.poll(pagesHere).toBe(0);
    wake();
    await showsAll(page, "slept");
    await cards(page).filter({ hasText: "by night" }).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  },
);

test("asleep over a restart of the gateway, with lines before and after it; in two tabs", slow, async () => {
  const screen = await open();
  const { page, context, errors } = screen;
  const beside = await openBeside(screen);
  await say(["lights out"]);
  await page.getByText("lights out").waitFor();
  await beside.getByText("lights out").waitFor();
  await fallAsleep();
  await say(named("restarted").slice(0, 250));
  await expect.poll(pagesHere).toBe(0);
  await scene.server.restart();
  await say(named("restarted").slice(250));
  wake();
  await showsAll(page, "restarted");
  await showsAll(beside, "restarted");
  expect(errors).toEqual([]);
  await context.close();
});

test("more lines than a page of history while asleep, and one page that comes later", slow, async () => {
  const screen = await open();
  const { page, context } = screen;
  await say(["dusk"]);
  await page.getByText("dusk").waitFor();
  await fallAsleep();
  await say(named("long", 1_500).slice(0, 900));
  await say(named("long", 1_500).slice(900));
  await expect.poll(pagesHere).toBe(0);
  wake();
  await showsAll(page, "long", 1_500);
  // It begins with the last two hundred.
  const late = await openBeside(screen);
  await searchLines(late, "long 149");
  await expect.poll(() => lineCount(late)).toBe(10);
  await context.close();
});
