// From nothing to the first decision: one command, one link, a few seconds.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { mcpx, scratch, start } from "../cli/support/mcpx-process.ts";
import { cards, openCard, openScreen } from "./support/screen.ts";

let browser: Browser;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

interface Ready {
  url: string;
  console: string;
}

async function firstRun(args: readonly string[] = []): Promise<Ready & { home: string; dataDir: string }> {
  const home = scratch();
  const dataDir = join(home, "data");
  const command = start(["up", "--port", "0", "--json", "--data", dataDir, ...args], { cwd: home });
  return { ...(JSON.parse(await command.line(/^\{"url"/)) as Ready), home, dataDir };
}

test("[X1-8-1] a person approves a live proposal, then signs at a gate, within seconds", slow, async () => {
  const began = performance.now();
  const { url, console: link, home, dataDir } = await firstRun();
  const { page, context, errors, origins } = await openScreen(browser, link);
  await page.getByText("Order A-17 needs the blue gear").waitFor();
  expect(await page.getByText("demo", { exact: true }).first().isVisible()).toBe(true);
  await page.getByRole("button", { name: "Approve …" }).click();
  await page.getByRole("button", { name: "Yes, approve" }).click();
  await page.getByText("The blue gear is on the bench now (0.5 m/s).").first().waitFor();
  expect(performance.now() - began).toBeLessThan(20_000);
  // While nothing waits the finished ones are shown by themselves, and a click would fold them.
  await cards(page).filter({ hasText: "workshop.cut_sheet" }).waitFor();
  await page.getByRole("button", { name: /finished/ }).click();
  const done = cards(page).filter({ hasText: "Done" });
  await done.getByRole("button").first().click();
  await cards(page)
    .filter({ hasText: "Done" })
    .getByText(/Approved by .+ \(console\)/)
    .first()
    .waitFor();
  // What cannot be undone wants a signature: a key that stays in this browser.
  await openCard(page, "workshop.cut_sheet");
  const gate = cards(page).filter({ hasText: "workshop.cut_sheet" });
  expect(await gate.textContent()).toContain("Irreversible");
  await gate.getByRole("button", { name: "Approve …" }).click();
  expect(await page.getByRole("button", { name: "Yes, approve" }).isDisabled()).toBe(true);
  await page.getByRole("button", { name: "Make a key in this browser" }).click();
  await page.getByRole("button", { name: "Yes, approve and sign" }).click();
  // Whatever waits next is selected; what became of this is among the finished ones.
  await gate.getByText("Done").waitFor();
  if ((await gate.locator("header button").getAttribute("aria-expanded")) !== "true")
    await gate.locator("header button").click();
  await page.getByText("One sheet of brass is cut for order A-17.").waitFor();
  expect(await gate.textContent()).toMatch(/Approved by .+-browser-.+ The call was made once, and is done\./);
  expect(errors).toEqual([]);
  expect([...origins]).toEqual([url.replace("127.0.0.1", "localhost")]);
  // The link is used up, and nothing of the demo was written down for later.
  const second = await fetch(link.replace("localhost", "127.0.0.1"), { redirect: "manual" });
  expect(second.status).toBe(401);
  expect(readdirSync(home)).toEqual(["data"]);
  expect(existsSync(join(dataDir, "mcpx.json"))).toBe(false);
  // The key cannot leave: the page itself cannot read it.
  const isReadable = await page.evaluate(async () => {
    const { crypto, indexedDB } = globalThis as unknown as {
      crypto: { subtle: { exportKey(format: string, key: unknown): Promise<unknown> } };
      indexedDB: { open(name: string): { result: never; onsuccess: (() => void) | null } };
    };
    const opening = indexedDB.open("mcpx-console");
    await new Promise<void>((resolve) => {
      opening.onsuccess = () => resolve();
    });
    const db = opening.result as { transaction(name: string): { objectStore(name: string): never } };
    const asking = (db.transaction("keys").objectStore("keys") as { get(key: string): typeof opening }).get(
      "gates",
    );
    await new Promise<void>((resolve) => {
      asking.onsuccess = () => resolve();
    });
    const { privateKey } = asking.result as { privateKey: unknown };
    return crypto.subtle.exportKey("jwk", privateKey).then(
      () => true,
      () => false,
    );
  });
  expect(isReadable).toBe(false);
  await context.close();
});

test("a demo agent that hears No leaves it, and says so", slow, async () => {
  const { console: link } = await firstRun();
  const { page, context, errors } = await openScreen(browser, link);
  await page.getByRole("button", { name: "Reject …" }).click();
  await page.getByRole("textbox", { name: /Reason/ }).fill("too early");
  await page.getByRole("button", { name: "Reject", exact: true }).click();
  await page.getByText(/rejected it. I leave it/).waitFor();
  await page.getByRole("region", { name: "Waiting for you" }).getByText("Rejected").first().waitFor();
  expect(errors).toEqual([]);
  await context.close();
});

test("a configuration, or --no-demo, and there is no demo", slow, async () => {
  const { console: link, dataDir } = await firstRun(["--no-demo"]);
  const { page, context } = await openScreen(browser, link);
  await page.getByText("No rooms yet.").waitFor();
  expect(await page.getByText("demo", { exact: true }).count()).toBe(0);
  // Another browser gets in by another link.
  const { out } = await mcpx(["console", "--json", "--data", dataDir]);
  const again = await openScreen(browser, (JSON.parse(out) as { url: string }).url);
  await again.page.getByText("No rooms yet.").waitFor();
  await again.page.getByRole("button", { name: "Log out" }).click();
  await again.page.getByText("You are not logged in.").waitFor();
  await again.page.reload();
  await again.page.getByText("You are not logged in.").waitFor();
  await again.context.close();
  // That one went alone; the other is still in, and takes everybody along.
  await page.reload();
  await page.getByText("No rooms yet.").waitFor();
  const last = await mcpx(["console", "--json", "--data", dataDir]);
  const third = await openScreen(browser, (JSON.parse(last.out) as { url: string }).url);
  await third.page.getByText("No rooms yet.").waitFor();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("log out everywhere");
  await page.keyboard.press("Enter");
  for (const screen of [page, third.page]) await screen.getByText("You are not logged in.").waitFor();
  await third.context.close();
  await context.close();
});
