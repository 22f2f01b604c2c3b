// `node --conditions=mcpx-source scripts/console-pictures.ts DIR [VIEW …]`: every view of the console in six sizes and two
// themes, a sheet for each view and theme, to be looked at. With `--docs` the pictures of docs/pictures.
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { chromium, type Page, type ViewportSize } from "playwright-core";
import { startScene } from "./console-pictures/scene.ts";
import { drawSheet, type Shot } from "./console-pictures/sheet.ts";
import { emptyViews, login, type View, viewsOf } from "./console-pictures/views.ts";

const sizes: readonly ViewportSize[] = [
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1024, height: 700 },
  { width: 1280, height: 800 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
];
const themes = ["light", "dark"] as const;
const documented = [
  { name: "card-of-a-gate", file: "console", theme: "light", size: { width: 1280, height: 800 } },
  { name: "sequence", file: "console-sequence", theme: "dark", size: { width: 1280, height: 1000 } },
  { name: "approval-page", file: "console-approval", theme: "light", size: { width: 390, height: 780 } },
] as const;

const { values, positionals } = parseArgs({ options: { docs: { type: "boolean" } }, allowPositionals: true });
const target = resolve(values.docs ? "docs/pictures" : (positionals.shift() ?? "pictures"));
mkdirSync(target, { recursive: true });
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
try {
  await (values.docs ? drawDocumented() : drawSheets());
} finally {
  await browser.close();
}

async function drawSheets(): Promise<void> {
  const full = await startScene();
  try {
    await full.begin();
    const page = await enter(full.link);
    await draw(page, full.url, viewsOf(await waitingGate(page)));
    await draw(await (await browser.newContext()).newPage(), full.url, [login]);
  } finally {
    await full.end();
  }
  const empty = await startScene({ isEmpty: true });
  try {
    await draw(await enter(empty.link), empty.url, emptyViews);
  } finally {
    await empty.end();
  }
}

async function drawDocumented(): Promise<void> {
  const scene = await startScene();
  try {
    await scene.begin();
    const page = await enter(scene.link);
    const views = viewsOf(await waitingGate(page));
    for (const { name, file, theme, size } of documented) {
      for (const view of views.filter((one) => one.name === name)) await show(page, scene.url, view);
      await dress(page, theme, size);
      await page.screenshot({ path: join(target, `${file}.png`) });
    }
  } finally {
    await scene.end();
  }
}

async function draw(page: Page, url: string, views: readonly View[]): Promise<void> {
  for (const view of views.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    await show(page, url, view);
    for (const theme of themes) {
      const shots: Shot[] = [];
      for (const size of sizes) {
        await dress(page, theme, size);
        shots.push({ width: size.width, png: await page.screenshot() });
      }
      await drawSheet(browser, shots, join(target, `${view.name}-${theme}.png`));
    }
    process.stderr.write(`${view.name}\n`);
  }
}

async function dress(page: Page, colorScheme: (typeof themes)[number], size: ViewportSize): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await page.setViewportSize(size);
}

/** Without loading the page anew: a room that is joined a hundred times says nothing else any more. */
async function show(page: Page, url: string, { path, shows, press }: View): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press("Escape");
  const isWithin = !path.startsWith("/approve/") && (await page.locator(".columns").count()) > 0;
  if (isWithin)
    await page.evaluate(
      `history.pushState(0, "", ${JSON.stringify(path)}); dispatchEvent(new Event("popstate"))`,
    );
  else await page.goto(new URL(path, url.replace("127.0.0.1", "localhost")).href);
  await page.locator(shows).first().waitFor();
  // Charts and lists come a moment after their frame.
  await page.waitForTimeout(500);
  await press?.(page);
  if (press !== undefined) await page.locator("dialog[open], article.open").first().waitFor();
}

async function enter(link: string): Promise<Page> {
  const page = await (await browser.newContext()).newPage();
  page.setDefaultTimeout(10_000);
  await page.goto(link);
  await page.locator(".columns").waitFor();
  return page;
}

/** Of the call that cannot be undone. */
async function waitingGate(page: Page): Promise<string> {
  await page.locator("nav .pair").first().waitFor();
  const card = page.getByRole("article", { name: /office\.shred/ });
  await card.locator(".title").click();
  const href = await card.getByTitle("The address of this card").getAttribute("href");
  return href?.split("/").at(-1) ?? "";
}
