// Deciding one after the other: the next card comes by itself, what is finished folds away, and one key may be enough.
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, openCard, openScreen, type Screen } from "./support/screen.ts";
import { serveTools } from "./support/serve-tools.ts";

let browser: Browser;
let scene: Scene;
let screen: Screen;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
  screen = await openScreen(browser, await scene.link());
  await screen.page.getByRole("link", { name: "bakery" }).waitFor();
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

const open = () => screen.page.locator("article.open");
const finished = () => screen.page.getByRole("button", { name: /\d finished/ });

test(
  "the next card is selected by itself, Ctrl-Enter sends, and finished ones fold away together",
  slow,
  async () => {
    const { page, errors } = screen;
    for (const celsius of [1, 2, 3, 4]) scene.propose({ celsius });
    await expect.poll(() => cards(page).count()).toBe(4);
    await page.keyboard.press("j");
    for (const celsius of [1, 2]) {
      await expect.poll(() => open().textContent()).toContain(`celsius ${celsius}`);
      await page.keyboard.press("a");
      await page.getByRole("dialog").waitFor();
      await page.keyboard.press("Control+Enter");
      await expect.poll(() => scene.called.splice(0)).toEqual([{ celsius }]);
    }
    await expect.poll(() => open().textContent()).toContain("celsius 3");
    await expect.poll(() => finished().textContent()).toContain("2 finished");
    expect(await cards(page).count()).toBe(2);
    await page.keyboard.press("j");
    await expect.poll(() => open().textContent()).toContain("celsius 4");
    await page.keyboard.press("k");
    await expect.poll(() => open().textContent()).toContain("celsius 3");
    // What became of them is one click away, and gone with another.
    await finished().click();
    await page.getByText("asked to call").first().waitFor();
    expect(await cards(page).count()).toBe(4);
    await page.getByRole("button", { name: "Clear" }).click();
    await expect.poll(() => cards(page).count()).toBe(2);
    expect(errors).toEqual([]);
  },
);

test(
  "in the dialog of a rejection Reject is the coloured button, and Ctrl-Enter sends with the reason",
  slow,
  async () => {
    const { page } = screen;
    await page.keyboard.press("d");
    const dialog = page.getByRole("dialog", { name: "Reject" });
    const ground = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`);
    const [back, reject] = [".actions button:first-of-type", ".actions button:last-of-type"];
    expect(await dialog.locator(reject).textContent()).toMatch(/^\s*Reject/);
    expect(await dialog.locator(back).textContent()).toBe("No, go back");
    expect(await ground(`dialog ${back}`)).toBe(await ground("dialog"));
    expect(await ground(`dialog ${reject}`)).not.toBe(await ground("dialog"));
    await page.keyboard.type("too cold");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => open().textContent()).toContain("celsius 4");
    await page.keyboard.press("d");
    await page.keyboard.press("Control+Enter");
    // Nothing waits any more: what became of the last is seen.
    await page.getByText(/^Rejected by .+ No call was made for it\.$/).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    expect(scene.called).toEqual([]);
  },
);

test("all calls of one tool by one caller are selected by one key", slow, async () => {
  const { page } = screen;
  for (const celsius of [5, 6]) scene.propose({ celsius });
  scene.propose({ celsius: 7 }, "another tool", "cool");
  await expect.poll(() => cards(page).count()).toBe(3);
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("k");
  await page.getByRole("button", { name: /^Select all 2 of heat by agent/ }).waitFor();
  await page.keyboard.press("Shift+X");
  await page.getByRole("button", { name: "Approve 2 …" }).click();
  await page.getByRole("dialog").getByText("2 calls, each as it is written here:").waitFor();
  await page.keyboard.press("Control+Enter");
  // One after the other: taken out when both are there.
  await expect.poll(() => scene.called).toEqual([{ celsius: 5 }, { celsius: 6 }]);
  scene.called.splice(0);
  await expect.poll(() => open().textContent()).toContain("cool");
  await page.keyboard.press("d");
  await page.keyboard.press("Control+Enter");
  await expect.poll(() => cards(page).filter({ hasText: "asks to call" }).count()).toBe(0);
  await page.getByRole("button", { name: "Clear" }).click();
});

test(
  "one key for reversible calls is an option, and can be taken back while nothing was sent",
  slow,
  async () => {
    const { page } = screen;
    await page.keyboard.press("?");
    await page.getByRole("checkbox", { name: /Approve reversible calls/ }).check();
    await page.keyboard.press("Escape");
    scene.propose({ celsius: 8 });
    await expect.poll(() => open().textContent()).toContain("celsius 8");
    await open().getByText("Changes something; reversible").waitFor();
    await page.keyboard.press("a");
    await page.getByText("Approving").waitFor();
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("z");
    await expect.poll(() => open().textContent()).toContain("celsius 8");
    expect(scene.called).toEqual([]);
    await page.keyboard.press("a");
    await expect.poll(() => scene.called.splice(0)).toEqual([{ celsius: 8 }]);
    // The control: what says nothing of its danger is asked about all the same.
    void scene.shred({ path: "/tmp/one-key" });
    await expect.poll(() => open().textContent()).toContain("/tmp/one-key");
    await page.keyboard.press("a");
    await page.getByRole("dialog", { name: "Approve exactly this, once?" }).waitFor();
    await page.keyboard.press("Escape");
  },
);

test(
  "an edit is checked against the tool's schema before anything is sent, in words, field by field",
  slow,
  async () => {
    const { page } = screen;
    const typed = await scene.join({ sub: "typed", level: "responder", kind: "robot" });
    const carried: unknown[] = [];
    await typed.serve(
      serveTools(carried, {
        name: "carry",
        more: {
          inputSchema: {
            type: "object",
            properties: {
              to: { type: "string" },
              speed: { type: "number", maximum: 1 },
              gently: { type: "boolean" },
            },
            required: ["to"],
          },
        },
      }),
    );
    scene.agent.propose({
      to: "typed",
      method: "tools/call",
      params: { name: "carry", arguments: { to: "bench", speed: 0.5 } },
    });
    await openCard(page, "carry");
    await open().getByText("Runs at").waitFor();
    await page.getByRole("button", { name: "Edit …" }).click();
    const dialog = page.getByRole("dialog", { name: "Edit, then approve" });
    const text = dialog.getByRole("textbox", { name: "Arguments, as JSON" });
    const send = dialog.getByRole("button", { name: "Approve as edited" });
    await text.fill('{"to":7,"speeed":0.5}');
    await dialog.getByText("to must be text, not the number 7").waitFor();
    await dialog.getByText("speeed is not an argument of this tool; did you mean speed?").waitFor();
    expect(await send.isDisabled()).toBe(true);
    await page.keyboard.press("Control+Enter");
    expect(await dialog.count()).toBe(1);
    await text.fill('{"to":"shelf","speed":0.5}');
    expect(await dialog.getByRole("textbox", { name: "to *" }).inputValue()).toBe("shelf");
    await dialog.getByRole("textbox", { name: "speed" }).fill("3");
    await dialog.getByText("speed must be at most 1").waitFor();
    await dialog.getByRole("textbox", { name: "speed" }).fill("0.25");
    await dialog.getByRole("combobox", { name: "gently" }).selectOption("true");
    expect(JSON.parse(await text.inputValue())).toEqual({ to: "shelf", speed: 0.25, gently: true });
    await send.click();
    await expect.poll(() => carried).toEqual([{ to: "shelf", speed: 0.25, gently: true }]);
    await typed.close();
  },
);
