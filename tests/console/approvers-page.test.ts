// Who approves, at the page itself: invited, listed with how they came to it, taken back.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { newKey } from "../gates/attacks/support/keys.ts";
import { enrol } from "../gates/support/give-grant.ts";
import { axeFaults } from "./support/axe.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { openScreen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

test("[B-KEY-2] approvers are invited, listed with their chain, and taken back after a question", {
  timeout: 60_000,
}, async () => {
  const { page, context, errors } = await openScreen(browser, await scene.link(), { bypassCSP: true });
  await page.getByRole("navigation").getByRole("link", { name: "Approvers" }).click();
  await page.getByText("There is no approver yet: calls that need a signature cannot be approved.").waitFor();
  await page.getByRole("textbox", { name: "Name" }).fill("anna");
  await page.getByRole("button", { name: "Make a link" }).click();
  await page.getByText(/\/approve\/enroll\/[\w-]{20,}/).waitFor();
  enrol(scene.server.dataDir, "gran", newKey());
  enrol(scene.server.dataDir, "bob", newKey());
  await scene.server.forgetApprovers();
  // The page hears of it by itself.
  const list = page.getByRole("region", { name: "List of approvers" });
  await list.getByRole("row").filter({ hasText: "gran" }).waitFor();
  const chain = page.getByRole("region", { name: "Chain of approvers" });
  await chain.getByText(/gran may approve, with the key/).waitFor();
  expect(await axeFaults(page)).toEqual([]);
  const leave = list.getByRole("button", { name: "Remove … gran" });
  await leave.click();
  const dialog = page.getByRole("dialog");
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await list.getByRole("row").filter({ hasText: "gran" }).count()).toBe(1);
  await leave.click();
  await dialog.getByRole("button", { name: "Yes, remove it" }).click();
  await expect.poll(() => list.getByRole("row").filter({ hasText: "gran" }).count()).toBe(0);
  const { body } = await scene.server.callHere("GET", "/admin/audit?action=approver.remove");
  expect(body.records).toMatchObject([{ subject: "gran" }]);
  expect(errors).toEqual([]);
  await context.close();
});
