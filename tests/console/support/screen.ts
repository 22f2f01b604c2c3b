// The console in a real Chromium: opened by its link, with everything that goes wrong in it collected.
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

export interface Screen {
  page: Page;
  context: BrowserContext;
  /** What went wrong in the page, and what it was refused. */
  errors: string[];
  /** Where it went. */
  origins: Set<string>;
}

/** What is decided is sent at once, as somebody may choose: tests do not wait for an undo unless they are about it. */
async function sendAtOnce(context: BrowserContext): Promise<void> {
  await context.addInitScript('localStorage.setItem("mcpx-console-at-once", "true")');
}

export async function openScreen(
  browser: Browser,
  link: string,
  { canUndo = false, ...options }: BrowserContextOptions & { canUndo?: boolean } = {},
): Promise<Screen> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(10_000);
  if (!canUndo) await sendAtOnce(context);
  const page = await context.newPage();
  const errors: string[] = [];
  const origins = new Set<string>();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => {
    // While a gateway is away the browser says so by itself.
    const isAway = /ERR_CONNECTION|status of 5\d\d|WebSocket connection/.test(message.text());
    if (message.type() === "error" && !isAway) errors.push(`${message.text()} ${message.location().url}`);
  });
  page.on("request", (request) => origins.add(new URL(request.url()).origin));
  await page.goto(link);
  return { page, context, errors, origins };
}

export const cards = (page: Page) =>
  page.getByRole("region", { name: "Waiting for you" }).getByRole("article");

/** The page of a tool of the tree, by the navigation. */
export async function goToTool(page: Page, server: string, tool: string): Promise<void> {
  const fold = page.getByRole("button", { name: `Tools of ${server}` });
  if ((await fold.getAttribute("aria-expanded")) !== "true") await fold.click();
  await page.getByRole("navigation").getByTitle(`${server}.${tool}`, { exact: true }).click();
}

/** The card is there and open. */
export async function openCard(page: Page, tool: string): Promise<void> {
  const card = cards(page).filter({ hasText: tool }).first();
  await card.waitFor();
  const title = card.getByRole("button", { name: tool }).first();
  if ((await title.getAttribute("aria-expanded")) !== "true") await title.click();
}
