// A hundred thousand envelopes in the timeline: loaded page by page of history, scrolled through, searched, and more
// coming while the oldest go.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { sized } from "../sizes.ts";
import { heapBytes, openWatched, ratioOf, shownCount, type Watched, watch } from "./chromium.ts";
import type { LoudRoom } from "./loud-room.ts";

export const many = sized(100_000, 1_000);
const perSecond = sized(1_000, 100);
const seconds = sized(10, 1);

export async function measureMany(browser: Browser, { link, speak }: LoudRoom): Promise<object> {
  const watched = await openWatched(browser, await link());
  const { page } = watched;
  const before = await heapBytes(watched);
  const loading = await watch(browser, watched, () => loadAll(watched));
  const shown = await shownCount(watched);
  const heap = (await heapBytes(watched)) - before;
  const scrolling = await watch(browser, watched, () => page.evaluate(scrollThrough));
  const search = page.getByRole("searchbox", { name: "Search the timeline" });
  const none = page.locator(".timeline .count").filter({ hasText: /^0$/ });
  const searching = await watch(browser, watched, async () => {
    await search.fill("no such word");
    await none.waitFor();
    await search.fill("");
    await none.waitFor({ state: "detached" });
  });
  const searched = await heapBytes(watched);
  await page.evaluate(
    "(() => { const it = document.querySelector('.scroller'); it.scrollTop = it.scrollHeight; })()",
  );
  const live = await watch(browser, watched, () => speak(perSecond, seconds));
  await watched.context.close();
  const bytesEach = { before: Math.round(heap / shown), searched: Math.round((searched - before) / shown) };
  const ratio = { longest_task_of_search_vs_goal: ratioOf(searching.tasksByCpu.maxMs, 50) };
  return { shown, bytesEach, loading, scrolling, searching, live, ratio };
}

/** From its end to its beginning, page of history by page. */
async function loadAll(watched: Watched): Promise<void> {
  const { page } = watched;
  for (let before = -1, now = 0; now !== before && now < many; ) {
    before = now;
    await page.evaluate("document.querySelector('.scroller').scrollTop = 0");
    for (let i = 0; i < 500 && now === before; i += 1) {
      await sleep(10);
      now = await shownCount(watched);
    }
  }
}

const scrollSteps = sized(500, 20);

/** All of it, one step in each frame. */
const scrollThrough = `new Promise((resolve) => {
  const it = document.querySelector(".scroller");
  let step = 0;
  const next = () => {
    step += 1;
    it.scrollTop = (it.scrollHeight * step) / ${scrollSteps};
    if (step === ${scrollSteps}) resolve();
    else requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
})`;
