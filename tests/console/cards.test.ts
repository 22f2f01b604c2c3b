// One card wherever somebody decides: in the console, by its address, in its room, on the page of an approval. And what
// was decided in a dialog can be taken back while nothing was sent.
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, openCard, openScreen, type Screen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
let screen: Screen;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
  screen = await openScreen(browser, await scene.link(), { canUndo: true });
  await screen.page.getByRole("link", { name: "bakery" }).waitFor();
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

/** What a card says, in its order, and in which colours. */
async function cardOf(within: Locator | Page): Promise<unknown> {
  const lists = [
    ".dangers > li",
    ".warnings > li",
    ".arguments",
    "[aria-label=Changes] li",
    ".facts dt",
    ".facts dd",
  ];
  const said: unknown[] = [];
  for (const list of lists) {
    said.push(
      await within.locator(list).evaluateAll((all) =>
        all.map((one) => {
          const { getComputedStyle } = globalThis as unknown as {
            getComputedStyle(of: unknown): Record<string, string>;
          };
          const { color, backgroundColor } = getComputedStyle(one);
          return [one.textContent?.replaceAll(/\s+/g, " ").trim(), color, backgroundColor];
        }),
      ),
    );
  }
  return said;
}

test("the same card in the console, by its address and on the page of an approval", slow, async () => {
  const { page, context, errors } = screen;
  void scene.shred({ path: "/srv/a", deep: [1, { password: "hunter2" }] });
  await openCard(page, "office.shred");
  const card = cards(page).filter({ hasText: "office.shred" });
  const inDeck = await cardOf(card);
  expect(JSON.stringify(inDeck)).toContain("Irreversible");
  expect(JSON.stringify(inDeck)).toContain("/srv/a");
  expect(JSON.stringify(inDeck)).not.toContain("hunter2");
  await card.getByTitle("The address of this card").click();
  const sheet = page.getByRole("region", { name: "Gate" });
  await sheet.locator(".facts").waitFor();
  expect(await cardOf(sheet)).toEqual(inDeck);
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const approval = await context.newPage();
  await approval.goto(new URL(`/approve/${id}`, page.url()).href);
  await approval.locator(".facts").waitFor();
  expect(await cardOf(approval)).toEqual(inDeck);
  await approval.close();
  await page.getByRole("link", { name: "bakery" }).first().click();
  expect(errors).toEqual([]);
});

test("what is decided in a dialog is not sent for a moment, and can be taken back", slow, async () => {
  const { page, errors } = screen;
  scene.propose({ celsius: 31 });
  await openCard(page, "heat");
  const sent = () => scene.called.length;
  await page.keyboard.press("a");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Control+Enter");
  const row = page.getByRole("status").filter({ hasText: "Approving heat" });
  await row.waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);
  await row.getByRole("button", { name: "Undo" }).click();
  await openCard(page, "heat");
  await page.keyboard.press("d");
  await page.getByRole("dialog", { name: "Reject" }).waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("status").filter({ hasText: "Rejecting heat" }).waitFor();
  await page.keyboard.press("z");
  await openCard(page, "heat");
  expect(sent()).toBe(0);
  // The control: what nobody takes back is sent.
  await page.keyboard.press("a");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Control+Enter");
  await row.waitFor();
  await expect.poll(() => scene.called).toEqual([{ celsius: 31 }]);
  await expect.poll(() => row.count()).toBe(0);
  expect(errors).toEqual([]);
});

test("whoever leaves the page has decided: what is held is sent at once", slow, async () => {
  const { context, page } = screen;
  scene.called.splice(0);
  scene.propose({ celsius: 32 });
  await openCard(page, "heat");
  await page.keyboard.press("a");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Control+Enter");
  await page.getByRole("status").filter({ hasText: "Approving heat" }).waitFor();
  const asked = new Promise<string>((resolve) =>
    page.once("dialog", (dialog) => {
      resolve(dialog.type());
      void dialog.accept();
    }),
  );
  await page.close({ runBeforeUnload: true });
  // The browser asks first; a page that was left all the same sends what it holds.
  expect(await asked).toBe("beforeunload");
  await expect.poll(() => scene.called).toEqual([{ celsius: 32 }]);
  screen = { ...screen, page: await context.newPage() };
  await screen.page.goto(await scene.link());
});

test("the envelope of a proposal shows its card, also when it was decided", slow, async () => {
  const { page } = screen;
  await page.getByRole("link", { name: "bakery" }).first().click();
  const line = page
    .getByRole("region", { name: "Envelopes" })
    .getByRole("button", { name: /proposes heat.*32/ });
  await line.click();
  const envelope = page.getByRole("complementary", { name: "Envelope" });
  await envelope.getByRole("list", { name: "Danger" }).getByText("Changes something; reversible").waitFor();
  await envelope.getByText(/^Approved by .+ The call was made, and is done\.$/).waitFor();
});
