// The demo's board at the console: real firmware, emulated, whose tools are called from a form.
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { scratch, start } from "../cli/support/mcpx-process.ts";
import { cards, openCard, openScreen } from "./support/screen.ts";

async function openForm(page: Page, tool: string): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "What do you want to do?" }).fill(tool);
  // The page looks at the tree every ten seconds.
  await page.getByRole("option", { name: `Tool: ${tool}` }).click({ timeout: 25_000 });
}

test("a board that came after the page is called, and what cannot be undone waits for a decision", {
  timeout: 180_000,
}, async () => {
  const home = scratch();
  const gateway = start(["up", "--port", "0", "--json", "--data", join(home, "data")], { cwd: home });
  const { console: link } = JSON.parse(await gateway.line(/^\{"url"/)) as { console: string };
  await using browser = await openBrowser();
  const { page, errors } = await openScreen(browser, link);
  await cards(page).first().waitFor();
  await gateway.line(/"device":"board".*"event":"registered"/);
  await openForm(page, "board.read_sensor");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page
    .getByText(/"releases": ?0/)
    .first()
    .waitFor();
  await openForm(page, "board.release");
  await page.getByRole("textbox", { name: /amount/ }).fill("100");
  await page.getByRole("button", { name: "Call", exact: true }).click();
  await page.getByText('{"amount":100}', { exact: true }).waitFor();
  await page.getByRole("button", { name: "Yes, call it" }).click();
  await openCard(page, "board.release");
  expect(await page.getByText("Irreversible").first().isVisible()).toBe(true);
  expect(errors).toEqual([]);
});
