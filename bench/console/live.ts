// How smooth the page is while a thousand envelopes a second come into the room that is looked at, and while none do.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { sized } from "../sizes.ts";
import { openWatched, ratioOf, round, type Smoothness, settledCount, shownCount, watch } from "./chromium.ts";
import { type LoudRoom, shownShare } from "./loud-room.ts";

const perSecond = sized(1_000, 100);
const seconds = sized(10, 1);
const frameMs = 50;

export async function measureLive(browser: Browser, { link, speak }: LoudRoom): Promise<object> {
  const watched = await openWatched(browser, await link());
  // The first seconds compile.
  await speak(perSecond, sized(2, 0.2));
  const quiet = await watch(browser, watched, () => sleep(seconds * 1_000));
  const wanted = (await shownCount(watched)) + shownShare * perSecond * seconds;
  const loud = await watch(browser, watched, () => speak(perSecond, seconds));
  const missing = wanted - (await settledCount(watched, wanted));
  await watched.context.close();
  return { perSecond, missing, quiet, loud, ratio: ratios(loud, quiet) };
}

function ratios(loud: Smoothness, quiet: Smoothness): object {
  const idleMs = (quiet.cpuMs.task / quiet.seconds) * loud.seconds;
  return {
    longest_frame_vs_goal: ratioOf(loud.frames.maxMs, frameMs),
    longest_frame_vs_quiet: ratioOf(loud.frames.maxMs, quiet.frames.maxMs),
    longest_task_by_cpu_vs_goal: ratioOf(loud.tasksByCpu.maxMs, frameMs),
    p99_frame_vs_quiet: ratioOf(loud.frames.p99Ms, quiet.frames.p99Ms),
    cpu_us_per_envelope: round(((loud.cpuMs.task - idleMs) * 1_000) / (perSecond * seconds)),
  };
}
