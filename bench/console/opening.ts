// From the start of a navigation until the card is there and a key counts, each time in a browser that knows nothing.
import { gzipSync } from "node:zlib";
import type { Browser, Page } from "playwright-core";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";
import { ascending, ratioOf, round } from "./chromium.ts";
import type { LoudRoom } from "./loud-room.ts";

const visits = sized(7, 1);
const goals = { interactiveMs: 600, firstLoadBytes: 100_000 };

/** By the page's own clock: the card is there, and a key opens the list of keys. */
const untilUsable = `new Promise((resolve) => {
  const times = {};
  const look = () => {
    if (times.deck === undefined && document.querySelector("article.card") !== null) {
      times.deck = performance.now();
      window.dispatchEvent(new KeyboardEvent("keydown", { key: "?", bubbles: true }));
    }
    if (times.deck === undefined || document.querySelector("dialog[open]") === null) return;
    watching.disconnect();
    resolve({ ...times, key: performance.now() });
  };
  const watching = new MutationObserver(look);
  watching.observe(document, { childList: true, subtree: true, attributes: true });
  look();
})`;

interface Opened {
  deck: number;
  key: number;
}

export async function measureOpening(
  browser: Browser,
  { link }: LoudRoom,
): Promise<{ interactive: object; firstLoad: object }> {
  const times: (Opened & { cpu: number })[] = [];
  let sizes = { bytes: 0, gzipBytes: 0 };
  for (let i = 0; i < visits; i += 1) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    await page.addInitScript(`globalThis.usable = ${untilUsable}`);
    const cdp = await context.newCDPSession(page);
    await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.goto(await link());
    const opened = (await page.evaluate("usable")) as Opened;
    const { metrics } = await cdp.send("Performance.getMetrics");
    const cpu = (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1_000;
    times.push({ ...opened, cpu });
    sizes = await firstLoad(page);
    await context.close();
  }
  const sorted = (name: "deck" | "key" | "cpu") => times.map((one) => one[name]).toSorted(ascending);
  const p50 = (name: "deck" | "key" | "cpu") => round(percentile(sorted(name), 50));
  return {
    interactive: {
      p50Ms: p50("key"),
      minMs: round(sorted("key")[0] ?? 0),
      maxMs: round(sorted("key").at(-1) ?? 0),
      deckP50Ms: p50("deck"),
      cpuP50Ms: p50("cpu"),
      ratio: { p50_vs_goal: ratioOf(p50("key"), goals.interactiveMs) },
    },
    firstLoad: { ...sizes, ratio: { gzip_vs_goal: ratioOf(sizes.gzipBytes, goals.firstLoadBytes) } },
  };
}

/** What the page and its files are, unpacked and as they are sent. */
async function firstLoad(page: Page): Promise<{ bytes: number; gzipBytes: number }> {
  const texts = (await page.evaluate(`Promise.all(
    ["/", ...performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.includes("/assets/"))]
      .map((name) => fetch(name).then((response) => response.text())))`)) as string[];
  const sum = (of: (text: string) => number) => texts.reduce((total, text) => total + of(text), 0);
  return {
    bytes: sum((text) => Buffer.byteLength(text)),
    gzipBytes: sum((text) => gzipSync(text).byteLength),
  };
}
