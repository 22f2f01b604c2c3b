// Whatever comes, and however much of it, the page is there for the next key. Measured is how long its main thread was
// busy at a stretch, in time on a processor: on a busy machine the clock tells about the machine.
import type { JsonObject } from "@mcpx/protocol";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWatched, type Watched, watch } from "../../bench/console/chromium.ts";
import { type Speakers, startSpeakers } from "../../bench/console/loud-room.ts";
import { openBrowser } from "../browser/page.ts";
import { lineCount, searchLines } from "./support/lines.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { openCard } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
let speakers: Speakers;
const slow = { timeout: 240_000 };

beforeAll(async () => {
  browser = await openBrowser();
  scene = await startScene({ limits: { envelopesPerSecondFull: 10_000 } });
  const tokens = await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      scene.server.token({ sub: `loud-${i}`, topics: ["bakery"], level: "full" }),
    ),
  );
  speakers = await startSpeakers(scene.server.url, "bakery", tokens);
}, 60_000);

afterAll(async () => {
  speakers.stop();
  await browser.close();
  await scene.end();
});

const open = async (): Promise<Watched> => openWatched(browser, await scene.link());

/** A key opens the list of keys, and another closes it. */
async function keyCounts({ page }: Watched): Promise<void> {
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Shortcuts" }).waitFor();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
}

/** The longest task while it comes, is opened, and a key counts. */
async function busiest(watched: Watched, work: () => Promise<unknown>): Promise<number> {
  const { tasksByCpu } = await watch(browser, watched, async () => {
    await work();
    await keyCounts(watched);
  });
  return tasksByCpu.maxMs;
}

/** What people take for at once, and some for an engine that has not compiled it yet. */
const boundMs = 150;

test("the measure sees a page that stands still: the control", slow, async () => {
  const watched = await open();
  const standStill = "(() => { const end = performance.now() + 1000; while (performance.now() < end); })()";
  const busy = await busiest(watched, () => watched.page.evaluate(standStill));
  expect(busy).toBeGreaterThan(boundMs);
  expect(await busiest(watched, async () => {})).toBeLessThan(boundMs);
  await watched.context.close();
});

/** Ten thousand lists, ten in each, and none deeper than an envelope may be. */
const nested = (levels: number): unknown[] =>
  levels === 0 ? [] : Array.from({ length: 10 }, () => nested(levels - 1));
const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`key-${i}`, i]));
const hostile: [string, string, JsonObject][] = [
  ["ten thousand nested lists", "lists", { lists: nested(4) }],
  ["ten thousand arguments", "many", many],
  ["many signs that cannot be seen", "signs", { signs: "a\u202e".repeat(30_000) }],
];

test.each(hostile)(
  "%s in a proposal and in the timeline: the next key counts",
  slow,
  async (_name, tool, args) => {
    const watched = await open();
    const { page } = watched;
    const busy = await busiest(watched, async () => {
      const { withdraw } = scene.propose(args, "please", tool);
      await openCard(page, tool);
      // The whole envelope, too.
      await page.locator(".line", { hasText: tool }).last().click();
      await page.getByRole("complementary", { name: "Envelope" }).waitFor();
      await keyCounts(watched);
      await withdraw();
    });
    expect(busy).toBeLessThan(boundMs);
    await watched.context.close();
  },
);

test("a megabyte in one argument of a gate: the next key counts, folded and opened", slow, async () => {
  const watched = await open();
  const { page } = watched;
  const busy = await busiest(watched, async () => {
    void scene.shred({ paper: "megabyte", text: "x".repeat(1_000_000) });
    await openCard(page, "office.shred");
    await keyCounts(watched);
    await page
      .locator("article.open")
      .getByRole("button", { name: /more characters/ })
      .click();
    await keyCounts(watched);
  });
  expect(busy).toBeLessThan(2 * boundMs);
  await watched.context.close();
});

test(
  "a thousand envelopes a second: no long task, a screen reader hears a digest, keys count",
  slow,
  async () => {
    const watched = await open();
    const { page } = watched;
    // Who comes and goes is not counted. Nine of ten are chat.
    await searchLines(page, "line ");
    await page.getByRole("region", { name: "Envelopes" }).focus();
    await speakers.speak(1_000, 1);
    await expect.poll(() => lineCount(page), { timeout: 30_000 }).toBe(900);
    const spoken = `(() => {
    const seen = { digests: [], counts: 0 };
    globalThis.spoken = seen;
    const region = document.querySelector("[role=status][aria-live=polite]");
    new MutationObserver(() => seen.digests.push([performance.now(), region.textContent]))
      .observe(region, { childList: true, characterData: true, subtree: true });
    new MutationObserver(() => { seen.counts += 1; })
      .observe(document.querySelector(".timeline .count"), { childList: true, characterData: true, subtree: true });
  })()`;
    await page.evaluate(spoken);
    const { tasksByCpu } = await watch(browser, watched, async () => {
      const speaking = speakers.speak(1_000, 10);
      await keyCounts(watched);
      await speaking;
    });
    // All of them are there.
    await expect.poll(() => lineCount(page), { timeout: 30_000 }).toBe(9_900);
    expect(tasksByCpu.over50).toBe(0);
    const { digests, counts } = (await page.evaluate("spoken")) as {
      digests: [number, string][];
      counts: number;
    };
    const gaps = digests.slice(1).map(([at], i) => at - (digests[i]?.[0] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(4_900);
    expect(digests.map(([, text]) => text).join()).toMatch(
      /[\d,]+ new lines in bakery, the last by loud-\d\./,
    );
    // The control: what is shown did change more often than what is said.
    expect(counts).toBeGreaterThan(2 * digests.length);
    await watched.context.close();
  },
);
