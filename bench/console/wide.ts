// Ten thousand tools and two hundred rooms in the navigation: how soon a key counts, and how long the page's main thread
// is busy at once while nothing happens, while the navigation is filtered, and while a server is unfolded.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { sized } from "../sizes.ts";
import { openWatched, ratioOf, watch } from "./chromium.ts";
import type { LoudRoom, Wide } from "./loud-room.ts";
import { measureOpening } from "./opening.ts";

export const wide: Wide = { tools: sized(10_000, 100), rooms: sized(200, 3) };
/** The tree is looked at every ten seconds. */
const seconds = sized(12, 1);
const taskMs = 50;

export async function measureWide(browser: Browser, room: LoudRoom): Promise<object> {
  const { interactive } = await measureOpening(browser, room);
  const watched = await openWatched(browser, await room.link());
  const { page } = watched;
  const nav = page.getByRole("navigation", { name: "Rooms and tools" });
  await nav.getByText("archive-9").waitFor();
  await nav.getByText("room-0", { exact: true }).waitFor();
  const listed = () => page.locator("nav .pair .end").allTextContents();
  while ((await listed()).reduce((sum, one) => sum + Number(one), 0) < wide.tools) await sleep(100);
  const quiet = await watch(browser, watched, () => sleep(seconds * 1_000));
  const filter = nav.getByRole("searchbox");
  const filtering = await watch(browser, watched, async () => {
    await filter.pressSequentially("invoice_1");
    await nav.locator(".tools").first().waitFor();
    await filter.fill("");
    await nav.locator(".tools").first().waitFor({ state: "detached" });
  });
  const unfolding = await watch(browser, watched, async () => {
    await nav.getByRole("button", { name: "Tools of archive-3" }).click();
    await nav.locator(".tools li").first().waitFor();
    await nav.getByRole("button", { name: "Tools of archive-3" }).click();
  });
  await watched.context.close();
  const longest = Math.max(...[quiet, filtering, unfolding].map(({ tasksByCpu }) => tasksByCpu.maxMs));
  return {
    ...wide,
    interactive,
    quiet,
    filtering,
    unfolding,
    ratio: { longest_task_by_cpu_vs_goal: ratioOf(longest, taskMs) },
  };
}
