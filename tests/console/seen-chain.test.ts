// A browser remembers the chain of approvers it has seen at this address: where another one stands there, with the same
// approver in it, nothing is signed until its person says that this is right. [B-KEY-2]
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { startScene } from "./support/scene.ts";
import { openCard, openScreen } from "./support/screen.ts";

async function approve(page: Page): Promise<void> {
  await openCard(page, "office.shred");
  await page.getByRole("button", { name: /^Approve …/ }).click();
}
const copyAll = (from: string, to: string) => {
  for (const file of readdirSync(from)) copyFileSync(join(from, file), join(to, file));
};

test("[B-KEY-2] a browser says when the whole chain was replaced, and signs nothing until its person accepts it", {
  timeout: 120_000,
}, async () => {
  const browser = await openBrowser();
  onTestFinished(() => browser.close());
  const kept = mkdtempSync(join(tmpdir(), "mcpx-kept-"));
  onTestFinished(() => rmSync(kept, { recursive: true }));
  const before = await startScene();
  const port = Number(new URL(before.server.url).port);
  const { page, context, errors } = await openScreen(browser, await before.link());
  const first = before.shred({ path: "/tmp/first" });
  await approve(page);
  await page.getByRole("button", { name: "Make a key in this browser" }).click();
  await page.getByRole("button", { name: "Yes, approve and sign" }).click();
  expect(await first).toContain("shred is done");
  expect(await page.getByText("The chain of approvers was replaced").count()).toBe(0);
  copyAll(join(before.server.dataDir, "approvers"), kept);
  await before.end();

  // Everything anew at the same address, with the same approver.
  const after = await startScene({ port });
  onTestFinished(() => after.end());
  const approvers = join(after.server.dataDir, "approvers");
  mkdirSync(approvers, { recursive: true, mode: 0o700 });
  copyAll(kept, approvers);
  await page.goto(await after.link());
  const alert = page.getByRole("alert").filter({ hasText: "The chain of approvers was replaced: entry" });
  await alert.waitFor();
  void after.shred({ path: "/tmp/second" });
  await approve(page);
  const go = page.getByRole("button", { name: "Yes, approve and sign" });
  await go.click();
  await page.getByRole("dialog").getByText("Nothing is signed here until you say").waitFor();
  expect(after.shredded()).toEqual([]);
  await page.getByRole("button", { name: "No, go back" }).click();
  await page.getByRole("navigation").getByRole("link", { name: "Rules and grants" }).click();
  await page.getByRole("button", { name: "Allow beforehand …" }).click();
  await page.getByRole("textbox", { name: /^Who/ }).fill("agent");
  await page.getByRole("combobox", { name: /^Which tools/ }).fill("office.*");
  await page.getByRole("button", { name: "Allow and sign" }).click();
  await page.getByRole("dialog").getByText("Nothing is signed here until you say").waitFor();
  await page.getByRole("button", { name: "No, go back" }).click();

  // The control: the person says that it is right.
  await alert.getByRole("link", { name: "Approvers" }).click();
  await page.getByRole("button", { name: "I have replaced it: remember this chain" }).click();
  await expect.poll(() => alert.count()).toBe(0);
  await approve(page);
  await go.click();
  await expect.poll(() => after.shredded().length).toBe(1);
  // The page of before was told that its login is none here.
  expect(errors.filter((text) => !text.includes("status of 401"))).toEqual([]);
  await context.close();
});
