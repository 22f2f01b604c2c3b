// Bridges at the page itself: how they are, a person linked by a code and unlinked, a bridge added and removed.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { bridgePlatforms } from "../../packages/cli/src/commands/bridges/bridge-add.ts";
import { bridgeKeys } from "../../packages/cli/src/config/bridge-schema.ts";
import { platformForms } from "../../packages/console/src/bridges/bridge-form.ts";
import { slackTokens, startSlackWorkspace } from "../bridges/support/slack-workspace.ts";
import { openBrowser } from "../browser/page.ts";
import { scratch } from "../cli/support/mcpx-process.ts";
import { axeFaults } from "./support/axe.ts";
import { startGateway } from "./support/gateway.ts";
import { openScreen } from "./support/screen.ts";

let browser: Browser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;

test("[X0-14.4-1] bridges are shown as they are; people are linked by a code and unlinked; bridges come and go after a question", {
  timeout: 90_000,
}, async () => {
  const workspace = await startSlackWorkspace();
  onTestFinished(() => workspace.close());
  const home = scratch();
  const config = join(home, "data", "mcpx.json");
  mkdirSync(join(home, "data"));
  const team = {
    ...{ platform: "slack", channels: { [workspace.channel]: "ops" }, url: workspace.apiUrl() },
    ...{ token: slackTokens.bot, appToken: slackTokens.app },
  };
  const pager = { platform: "webhook", channels: { pager: "ops" }, url: "http://127.0.0.1:9/hook", secret };
  writeFileSync(config, JSON.stringify({ bridges: { team, pager } }), { mode: 0o600 });
  const gateway = await startGateway(["--no-demo"], { home });
  const { page, context, errors, origins } = await openScreen(browser, gateway.link, { bypassCSP: true });
  const bridge = (name: string) => page.getByRole("article", { name });
  const button = (name: string | RegExp) => page.getByRole("button", { name });
  const dialog = page.getByRole("dialog");
  await page.getByRole("navigation").getByRole("link", { name: "Bridges" }).click();
  await bridge("team").getByText("up", { exact: true }).waitFor();
  await bridge("team").getByText("Nobody is linked yet.").waitFor();
  await bridge("pager").getByText("It only sends notifications").waitFor();
  expect(
    await bridge("pager")
      .getByRole("button", { name: /Link a person/ })
      .count(),
  ).toBe(0);
  expect(await axeFaults(page)).toEqual([]);
  // Who may not be linked is told; a code is shown once, and counts once.
  await button("Link a person … team").click();
  await page.getByRole("textbox", { name: "Participant they become" }).fill("slack:T1:U1");
  await button("Make a code").click();
  await dialog.getByText("nobody can be linked to this participant").waitFor();
  await expect.poll(() => errors.splice(0)).toEqual([expect.stringContaining("status of 400")]);
  await page.getByRole("textbox", { name: "Participant they become" }).fill("alice");
  await page.getByRole("combobox", { name: "Level in its rooms" }).selectOption("full");
  await button("Make a code").click();
  const words = (await dialog.getByRole("status").textContent()) ?? "";
  expect(words).toMatch(/^link [0-9a-z]{5}-[0-9a-z]{5}$/);
  expect(await axeFaults(page)).toEqual([]);
  await button("Done").click();
  expect(await page.content()).not.toContain(words.slice(5));
  await workspace.tell("U0ALICE", words);
  const row = bridge("team").getByRole("row").filter({ hasText: ":U0ALICE" });
  await row.getByText("alice", { exact: true }).waitFor();
  await row.getByText("full", { exact: true }).waitFor();
  await row.getByText("open to sign").waitFor();
  // Alice approves nothing yet, so there is nothing to sign.
  await button("Let approvers approve by button at team").click();
  await page.getByText("No approver is linked, or all approve by button already.").waitFor();
  // It has an address, on a phone too.
  await page.getByRole("link", { name: "team" }).click();
  expect(new URL(page.url()).pathname).toBe("/console/bridges/team");
  await page.setViewportSize({ width: 390, height: 800 });
  await page.reload();
  await bridge("team").getByText("up", { exact: true }).waitFor();
  expect(await bridge("pager").count()).toBe(0);
  const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
  expect(await page.evaluate(isWide)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole("link", { name: "All bridges" }).click();
  // Enter is No.
  await row.getByRole("button", { name: /^Unlink/ }).click();
  await page.keyboard.press("Enter");
  await expect.poll(() => dialog.count()).toBe(0);
  expect(await row.count()).toBe(1);
  await row.getByRole("button", { name: /^Unlink/ }).click();
  await button("Yes, unlink").click();
  await expect.poll(() => row.count()).toBe(0);
  await workspace.say("U0ALICE", "still me?");
  await expect.poll(() => workspace.whispers.at(-1)?.text).toContain("You can only read here");
  // Added: the change is shown without its secret, and written after a yes.
  await button("Add a bridge …").click();
  await page.getByRole("combobox", { name: "Platform" }).selectOption("ntfy");
  await page.getByRole("textbox", { name: "Name" }).fill("phone");
  await page.getByRole("combobox", { name: "Room" }).fill("ops");
  await page.getByRole("textbox", { name: "Channel" }).fill("mcpx-7k2mw0qz4r");
  await page.getByRole("textbox", { name: "Server" }).fill("https://ntfy.sh");
  await page.getByLabel("Access token").fill("tk_0123456789abcdef");
  expect(await axeFaults(page)).toEqual([]);
  await button("Look at the change").click();
  await dialog.getByText("The bridge starts with the next start of the gateway.").waitFor();
  expect(await dialog.textContent()).not.toContain("tk_0123456789abcdef");
  await button("Yes, write it").click();
  await bridge("phone").getByText("not running").waitFor();
  const bridges = () => JSON.parse(readFileSync(config, "utf8")).bridges;
  expect(bridges().phone).toEqual({
    ...{ platform: "ntfy", channels: { "mcpx-7k2mw0qz4r": "ops" } },
    ...{ url: "https://ntfy.sh", token: "tk_0123456789abcdef" },
  });
  await button("Remove … phone").click();
  await dialog.getByText("Nobody is linked there.").waitFor();
  await button("Yes, remove it").click();
  await expect.poll(() => bridge("phone").count()).toBe(0);
  expect(Object.keys(bridges())).toEqual(["team", "pager"]);
  expect(await page.content()).not.toContain(secret);
  expect(errors).toEqual([]);
  expect([...origins]).toEqual([new URL(gateway.link).origin]);
  await context.close();
});

test("[X0-14.4-1] the form of a bridge knows every platform of `mcpx bridge add`, and every setting of each", () => {
  expect(Object.keys(platformForms).toSorted()).toEqual(bridgePlatforms.toSorted());
  for (const platform of bridgePlatforms) {
    const { fields = [], hasPeople = false } = platformForms[platform] ?? {};
    const asked = [...fields.map(({ key }) => key), ...(hasPeople ? ["unlinked"] : [])];
    const { needed, more } = bridgeKeys[platform];
    expect([platform, asked.toSorted()]).toEqual([platform, [...needed, ...more].toSorted()]);
    const optional = fields.filter(({ isOptional, isFlag }) => isOptional || isFlag).map(({ key }) => key);
    expect([platform, optional.filter((key) => (needed as readonly string[]).includes(key))]).toEqual([
      platform,
      [],
    ]);
  }
});
