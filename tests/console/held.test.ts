// Held results at the console, in a real browser: all of a result is looked at, then released or withheld; what is
// shown is what is signed; and who asked for it sees nothing of it before.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { plugIn } from "../browser/support/authenticator.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, goToTool, openScreen, type Screen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
let screen: Screen;
const slow = { timeout: 60_000 };
const dir = mkdtempSync(join(tmpdir(), "mcpx-held-"));
const traces = join(dir, "traces");
const archive = {
  command: process.execPath,
  args: [join(import.meta.dirname, "../gates/support/archive.ts"), traces],
  trusted: true,
};

beforeAll(async () => {
  browser = await openBrowser();
  scene = await startScene({
    rules: [
      { tools: "archive.salary", action: "allow", holdResult: true },
      { tools: "archive.broken", action: "allow", holdResult: true },
      { tools: "office.shred", action: "ask", holdResult: true },
    ],
    servers: { archive },
  });
  screen = await openScreen(browser, await scene.link());
  await screen.page.getByRole("link", { name: "bakery" }).waitFor();
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
  rmSync(dir, { recursive: true, force: true });
});

const card = (page: Page, text: string) => cards(page).filter({ hasText: text });

/** Its card, open. */
async function openHeld(page: Page, of: string): Promise<void> {
  const held = card(page, of).filter({ hasText: "wants to see the result of" });
  await held.waitFor();
  const title = held.getByRole("button", { name: "wants to see" });
  if ((await title.getAttribute("aria-expanded")) !== "true") await title.click();
}

/** What the caller hears in the end: at once where it was decided soon, else when it asks again, which joins. */
async function heard(first: Promise<string>, tool: string, args: Record<string, string>): Promise<string> {
  const text = await first;
  return text.includes("confirmation_required") ? scene.call(tool, args) : text;
}

test("[B-GATE-1] all of a held result is seen, then released: its caller gets exactly it", slow, async () => {
  const { page, errors } = screen;
  const first = scene.call("archive.salary", { of: "ben" });
  await openHeld(page, "ben");
  const open = page.locator("article.open");
  // The text with nothing hidden in it, and what stands beside it.
  const shown = (await open.getByRole("region", { name: "Result" }).textContent()) ?? "";
  expect(shown).toContain("<b>the-secret is</b>");
  expect(shown).toContain("U+001B");
  expect(shown).toMatch(/structuredContent.*note.*the-secret/);
  expect(await open.locator("b").count()).toBe(0);
  // It has happened: nothing of it can be edited, and no grant is about it.
  expect(await open.getByRole("button", { name: /Edit|Allow/ }).count()).toBe(0);
  expect(await first).not.toContain("the-secret");
  await page.keyboard.press("a");
  const dialog = page.getByRole("dialog", { name: "Release exactly this result?" });
  expect(await dialog.getByRole("region", { name: "Result" }).textContent()).toMatch(
    /structuredContent.*note/,
  );
  // Enter is No.
  await page.keyboard.press("Enter");
  await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  await open.getByRole("button", { name: "Release …" }).click();
  await page.getByRole("button", { name: "Make a key in this browser" }).click();
  await page.getByRole("button", { name: "Release and sign" }).click();
  await page.getByText(/^Released by .+-browser-.+\. The call was made once, and is done\.$/).waitFor();
  expect(await heard(first, "archive.salary", { of: "ben" })).toContain("the-secret");
  expect(readFileSync(traces, "utf8").match(/ben/g)).toHaveLength(1);
  expect(errors).toEqual([]);
});

test(
  "withheld with a reason: its caller hears that it has happened, and the page shows it no more",
  slow,
  async () => {
    const { page, errors } = screen;
    const first = scene.call("archive.broken", { of: "carl" });
    await openHeld(page, "carl");
    const open = page.locator("article.open");
    await open.getByText("broken-secret").waitFor();
    await page.keyboard.press("d");
    await page.getByRole("dialog", { name: "Withhold the result" }).waitFor();
    await page.getByRole("textbox", { name: /Reason/ }).fill("not for agents");
    await page.getByRole("button", { name: "Withhold and sign" }).click();
    await page
      .getByText(/^The call was made; its result was withheld by .+-browser-.+: not for agents$/)
      .waitFor();
    await expect.poll(() => page.getByText("broken-secret").count()).toBe(0);
    expect(await heard(first, "archive.broken", { of: "carl" })).toContain(
      "its result was withheld: not for agents",
    );
    expect(errors).toEqual([]);
  },
);

test(
  "one card asks twice: may it happen, and may its result be seen; each is signed by itself",
  slow,
  async () => {
    const { page, context } = await openScreen(browser, await scene.link());
    await plugIn(context, page);
    const { body } = await scene.server.callHere("POST", "/admin/approvers/enrolments", { name: "anna" });
    const { origin } = new URL(page.url());
    await page.goto(`${origin}${new URL(String((body as { url?: unknown }).url)).pathname}`);
    await page.getByRole("button", { name: "Register a passkey" }).click();
    await page.getByText("Done. anna approves once an approver has signed that.").waitFor();
    await scene.server.forgetApprovers();
    await page.goto(origin);
    const calling = scene.shred({ paper: "twice" });
    const first = card(page, "twice").filter({ hasText: "asks to call" });
    await first.getByRole("button", { name: "asks to call" }).click();
    await page.getByRole("button", { name: "Approve …" }).click();
    await page.getByRole("button", { name: "Yes, approve with passkey" }).click();
    await openHeld(page, "twice");
    expect(scene.shredded()).toEqual(['shred {"paper":"twice"}']);
    await page.getByRole("button", { name: "Release …" }).click();
    await page.getByRole("button", { name: "Release with passkey" }).click();
    await page.getByText("Released by anna. The call was made once, and is done.").waitFor();
    expect(await heard(calling, "office.shred", { paper: "twice" })).toContain("shred is done");
    expect(scene.shredded()).toHaveLength(1);
    await context.close();
  },
);

test("what one called oneself is not shown to oneself, and hides nothing of others", slow, async () => {
  const { page, context, errors } = await openScreen(browser, await scene.link());
  await goToTool(page, "archive", "salary");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page
    .getByRole("region", { name: "Tool" })
    .getByText("Its result waits to be released")
    .first()
    .waitFor();
  void scene.call("archive.salary", { of: "dora" });
  await openHeld(page, "dora");
  expect(await cards(page).filter({ hasText: "console:" }).count()).toBe(0);
  expect(errors).toEqual([]);
  await context.close();
});

test(
  "[AX-11.3-2] a result that is not the one to be signed is not shown, and it is said; others are",
  slow,
  async () => {
    const { page, context } = await openScreen(browser, await scene.link());
    await page.getByRole("link", { name: "bakery" }).waitFor();
    await context.route(/\/admin\/gates\/[^?/]+$/, async (route) => {
      const answer = await route.fetch();
      const text = await answer.text();
      await route.fulfill({
        response: answer,
        body: text.includes("mallory") ? text.replaceAll("the-secret", "harmless") : text,
      });
    });
    void scene.call("archive.salary", { of: "mallory" });
    await page.getByRole("alert").getByText("sign nothing").waitFor();
    void scene.call("archive.salary", { of: "fred" });
    await openHeld(page, "fred");
    expect(await card(page, "mallory").count()).toBe(0);
    await context.close();
  },
);
