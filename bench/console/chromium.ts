// A page under measurement: its frames and long tasks as it sees them itself, and what its renderer's main thread has
// spent, in time on the clock and in time on a processor.
import { setTimeout as sleep } from "node:timers/promises";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { percentile } from "../rooms/load.ts";

export interface Watched {
  page: Page;
  context: BrowserContext;
  cdp: CDPSession;
}

/** The page notes each frame from its beginning. */
const observe = `(() => {
  const seen = { frames: [], long: [], last: 0 };
  globalThis.seenByBench = seen;
  new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) seen.long.push(duration); })
    .observe({ type: "longtask", buffered: true });
  const frame = (now) => {
    if (seen.last > 0) seen.frames.push(now - seen.last);
    seen.last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
})()`;

export async function openWatched(browser: Browser, link: string): Promise<Watched> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(observe);
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(link);
  await page.locator("article.card").first().waitFor();
  return { page, context, cdp };
}

/** What the timeline says it shows. */
export async function shownCount({ page }: Watched): Promise<number> {
  return Number((await page.locator(".timeline .count").textContent())?.replaceAll(",", ""));
}

/** The same, once it is what it should be; or what it is after ten seconds. */
export async function settledCount(watched: Watched, wanted: number): Promise<number> {
  for (let i = 0; i < 100 && (await shownCount(watched)) < wanted; i += 1) await sleep(100);
  return shownCount(watched);
}

interface MainThread {
  /** Ms of CPU. */
  task: number;
  script: number;
  layout: number;
  style: number;
}

async function mainThread({ cdp }: Watched): Promise<MainThread> {
  const { metrics } = await cdp.send("Performance.getMetrics");
  const ms = (name: string) => (metrics.find((one) => one.name === name)?.value ?? 0) * 1_000;
  return {
    task: ms("TaskDuration"),
    script: ms("ScriptDuration"),
    layout: ms("LayoutDuration"),
    style: ms("RecalcStyleDuration"),
  };
}

export interface Smoothness {
  frames: { count: number; p50Ms: number; p99Ms: number; maxMs: number; over50: number };
  longTasks: { count: number; maxMs: number };
  /** Tasks of the main thread by the time they had a processor. */
  tasksByCpu: { over50: number; p999Ms: number; maxMs: number };
  cpuMs: MainThread;
  seconds: number;
}

/** What happens in the page while `work` is under way. */
export async function watch(
  browser: Browser,
  watched: Watched,
  work: () => Promise<unknown>,
): Promise<Smoothness> {
  const { page } = watched;
  const tasks = await traceTasks(browser);
  const before = await mainThread(watched);
  await page.evaluate("Object.assign(seenByBench, { frames: [], long: [] })");
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const seen = (await page.evaluate("({ frames: seenByBench.frames, long: seenByBench.long })")) as {
    frames: number[];
    long: number[];
  };
  const after = await mainThread(watched);
  const cpu = (await tasks.end()).toSorted(ascending);
  const frames = seen.frames.toSorted(ascending);
  const over = (times: readonly number[]) => times.filter((ms) => ms > 50).length;
  return {
    frames: {
      count: frames.length,
      p50Ms: round(percentile(frames, 50)),
      p99Ms: round(percentile(frames, 99)),
      maxMs: round(frames.at(-1) ?? 0),
      over50: over(frames),
    },
    longTasks: { count: seen.long.length, maxMs: round(Math.max(0, ...seen.long)) },
    tasksByCpu: { over50: over(cpu), p999Ms: round(percentile(cpu, 99.9)), maxMs: round(cpu.at(-1) ?? 0) },
    cpuMs: {
      task: round(after.task - before.task),
      script: round(after.script - before.script),
      layout: round(after.layout - before.layout),
      style: round(after.style - before.style),
    },
    seconds: round(seconds),
  };
}

interface TraceEvent {
  name: string;
  pid: number;
  tid: number;
  args?: { name?: string };
  /** µs on a processor. */
  tdur?: number;
}

/** Ms of CPU of each task of renderers' main threads. */
async function traceTasks(browser: Browser): Promise<{ end(): Promise<number[]> }> {
  const cdp = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  cdp.on("Tracing.dataCollected", ({ value }) => {
    for (const event of value as unknown as TraceEvent[]) {
      if (event.name.endsWith("RunTask") || event.name === "thread_name") events.push(event);
    }
  });
  const traceConfig = { includedCategories: ["toplevel", "disabled-by-default-devtools.timeline"] };
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig });
  return {
    async end() {
      const complete = new Promise<void>((resolve) => cdp.once("Tracing.tracingComplete", () => resolve()));
      await cdp.send("Tracing.end");
      await complete;
      await cdp.detach();
      const mains = new Set(
        events.filter(({ args }) => args?.name === "CrRendererMain").map(({ pid, tid }) => `${pid} ${tid}`),
      );
      return events
        .filter(({ pid, tid, tdur }) => tdur !== undefined && mains.has(`${pid} ${tid}`))
        .map(({ tdur = 0 }) => tdur / 1_000);
    },
  };
}

/** After a collection. */
export async function heapBytes({ cdp }: Watched): Promise<number> {
  await cdp.send("HeapProfiler.collectGarbage");
  const { usedSize } = await cdp.send("Runtime.getHeapUsage");
  return usedSize;
}

export function ascending(a: number, b: number): number {
  return a - b;
}

export function round(value: number): number {
  return Math.round(value * 10) / 10;
}

export function ratioOf(value: number, goal: number): number {
  return Math.round((value / goal) * 100) / 100;
}
