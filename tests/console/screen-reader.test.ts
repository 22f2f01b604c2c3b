// The walk with a screen reader that docs/CONSOLE.md writes down, in Chromium's accessibility tree: each line by role and
// name, in its order.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
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

interface Step {
  press: string | undefined;
  isFocus: boolean;
  role: string;
  name: string;
}

function readWalk(): Step[] {
  const text = readFileSync(join(import.meta.dirname, "../../docs/CONSOLE.md"), "utf8");
  const walk = text.slice(text.indexOf("### A walk with a screen reader"));
  return [...walk.matchAll(/^\| (?:–|`([^`]+)`) \| (focus on )?(\w+) "([^"]+)" \|$/gm)].map(
    ([, press, focus, role = "", name = ""]) => ({ press, isFocus: focus !== undefined, role, name }),
  );
}

test("every line of the walk is there, in its order", { timeout: 60_000 }, async () => {
  const walk = readWalk();
  expect(walk.length).toBeGreaterThan(20);
  const { page, context, errors } = await openScreen(browser, await scene.link(), { canUndo: true });
  scene.propose({ celsius: 180 });
  for (const { press, isFocus, role, name } of walk) {
    if (press !== undefined) await type(page, press);
    // A status is what it says, and has no other name.
    const found =
      role === "status"
        ? page.getByRole("status").filter({ hasText: name })
        : page.getByRole(role as "button", { name, exact: role !== "button" }).first();
    await found.waitFor();
    if (!isFocus) continue;
    const hasFocus = () =>
      found.evaluate(
        (one) =>
          one === (globalThis as unknown as { document: { activeElement: unknown } }).document.activeElement,
      );
    await expect.poll(hasFocus).toBe(true);
  }
  // The control: what is not there is not found.
  expect(await page.getByRole("button", { name: "Make no backup" }).count()).toBe(0);
  expect(scene.called).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});

/** A word is typed, all else is pressed. */
async function type(page: Page, press: string): Promise<void> {
  if (/^[A-Z][a-z]{4,}$/.test(press) && !["Enter", "Escape"].includes(press)) await page.keyboard.type(press);
  else await page.keyboard.press(press);
}
