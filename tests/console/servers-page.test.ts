// The servers at the page itself: a person adds, looks, removes and imports, and nothing happens that was not said yes to.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { scratch } from "../cli/support/mcpx-process.ts";
import { axeFaults } from "./support/axe.ts";
import { startGateway } from "./support/gateway.ts";
import { goToTool, openScreen } from "./support/screen.ts";

let browser: Browser;
const slow = { timeout: 90_000 };
const tiny = join(import.meta.dirname, "../cli/support/tiny-server.ts");
const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const go = (page: Page, name: string) =>
  page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
const button = (page: Page, name: string) => page.getByRole("button", { name });
const article = (page: Page, name: string) => page.getByRole("article").filter({ hasText: name });

async function fillTiny(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Name", exact: true }).fill("tiny");
  await page.getByRole("textbox", { name: "Command", exact: true }).fill(process.execPath);
  await page.getByRole("textbox", { name: /^Arguments/ }).fill(`${tiny}\nphoto\u202egpj.exe\n<b>bold</b>`);
  await button(page, "Add a variable").click();
  await page.getByRole("textbox", { name: "Name of variable 1" }).fill("GITHUB_TOKEN");
  await page.getByLabel("Value 1", { exact: true }).fill(token);
}

test(
  "[X1-8-1] a server is added after its whole command was seen, and removed after a question",
  slow,
  async () => {
    const gateway = await startGateway();
    const config = join(gateway.dataDir, "mcpx.json");
    const { page, context, errors, origins } = await openScreen(browser, gateway.link, { bypassCSP: true });
    await go(page, "Servers");
    await page.getByText("Nothing is configured yet. The first server makes").waitFor();
    await button(page, "Add a server …").click();
    await fillTiny(page);
    expect(await axeFaults(page)).toEqual([]);
    await button(page, "Look at the change").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("A program is started on the gateway's machine").waitFor();
    // Nothing hides in it, and nothing of it becomes anything but text.
    const words = dialog.getByRole("group", { name: "The whole command, word by word" });
    expect(await words.textContent()).toContain("photoU+202Egpj.exe");
    expect(await words.textContent()).toContain("<b>bold</b>");
    expect(await words.locator("b").count()).toBe(0);
    expect(await dialog.textContent()).toContain("its workshop leaves the tree at once");
    expect(await dialog.textContent()).toContain(config);
    expect(await dialog.textContent()).toContain('"GITHUB_TOKEN": "•••"');
    expect(await page.content()).not.toContain(token);
    expect(await axeFaults(page)).toEqual([]);
    // Enter is No.
    expect(await page.evaluate("document.activeElement.textContent")).toBe("No, go back");
    await page.keyboard.press("Enter");
    await expect.poll(() => dialog.count()).toBe(0);
    expect(existsSync(config)).toBe(false);
    // Once more, pasted as a whole line, with a change of mind in between.
    await button(page, "Add a server …").click();
    const paste = page.getByRole("textbox", { name: /^Paste a command line/ });
    await paste.fill(`node ${tiny} | tee log`);
    await dialog.getByText("No shell reads this line: | would have no meaning").waitFor();
    await paste.fill(`GITHUB_TOKEN=${token} ${process.execPath} ${tiny} 'two words'`);
    expect(await page.getByRole("textbox", { name: /^Arguments/ }).inputValue()).toBe(`${tiny}\ntwo words`);
    expect(await page.getByLabel("Value 1", { exact: true }).inputValue()).toBe(token);
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("tiny");
    await button(page, "Look at the change").click();
    await button(page, "Change it").click();
    expect(await page.getByRole("textbox", { name: "Command", exact: true }).inputValue()).toBe(
      process.execPath,
    );
    await button(page, "Look at the change").click();
    await button(page, "Yes, write it and start it").click();
    await article(page, "tiny").getByText("up", { exact: true }).waitFor();
    // Its tools are in the navigation as soon as they are listed, not with the next look at the tree.
    await page
      .getByRole("navigation")
      .getByRole("link", { name: /tiny .*7$/ })
      .waitFor({ timeout: 8_000 });
    expect(JSON.parse(readFileSync(config, "utf8")).mcpServers.tiny.env).toEqual({ GITHUB_TOKEN: token });
    expect(await article(page, "workshop").count()).toBe(0);
    await button(page, "Log of tiny").click();
    await page.getByRole("region", { name: "Log of tiny" }).getByText("tiny is up").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    // Shut again: who follows the log of what is removed is told that it is gone.
    await button(page, "Log of tiny").click();
    expect(await page.content()).not.toContain(token);
    // Edited: what is not named stays, its variables and their secrets too.
    await button(page, "Edit … tiny").click();
    await page.getByRole("checkbox", { name: /^Trust the annotations/ }).check();
    const editable = page.getByRole("textbox", { name: /^Command and arguments/ });
    expect(await editable.inputValue()).toBe(`${process.execPath}\n${tiny}\ntwo words`);
    await editable.fill(`${process.execPath}\n${tiny}\nthree more words`);
    await button(page, "Look at the change").click();
    await dialog.getByText('"trusted": true').waitFor();
    expect(await dialog.textContent()).not.toContain(token);
    await button(page, "Yes, write it").click();
    await expect.poll(() => dialog.count()).toBe(0);
    expect(JSON.parse(readFileSync(config, "utf8")).mcpServers.tiny).toMatchObject({
      args: [tiny, "three more words"],
      env: { GITHUB_TOKEN: token },
      trusted: true,
    });
    await article(page, "tiny").getByText("up", { exact: true }).waitFor();
    // Its place is taken only after it was said; where the file is another meanwhile, it is shown again.
    await button(page, "Add a server …").click();
    await fillTiny(page);
    await page.getByRole("checkbox", { name: /^Replace a server that has this name/ }).check();
    await button(page, "Look at the change").click();
    await dialog.getByRole("heading", { name: "Replace tiny like this?" }).waitFor();
    const before = readFileSync(config, "utf8");
    writeFileSync(config, `// A note.\n${before}`);
    await button(page, "Yes, write it and start it").click();
    await dialog.getByText("This is what would be done now").waitFor();
    await expect.poll(() => errors.splice(0)).toEqual([expect.stringContaining("status of 400")]);
    expect(readFileSync(config, "utf8")).toBe(`// A note.\n${before}`);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("No, go back");
    await button(page, "Yes, write it and start it, as it is shown now").click();
    await expect.poll(() => dialog.count()).toBe(0);
    expect(readFileSync(config, "utf8")).toMatch(/^\/\/ A note\.\n/);
    await article(page, "tiny").getByText("up", { exact: true }).waitFor();
    // Out again: the default is No here too.
    await button(page, "Remove … tiny").click();
    await dialog.getByText("Its 7 tools leave the tree").waitFor();
    expect(await dialog.textContent()).not.toContain(token);
    await page.keyboard.press("Enter");
    expect(readFileSync(config, "utf8")).toContain("tiny");
    await button(page, "Remove … tiny").click();
    await button(page, "Yes, remove it").click();
    await expect.poll(() => article(page, "tiny").count()).toBe(0);
    expect(readFileSync(config, "utf8")).not.toContain("tiny");
    expect(errors).toEqual([]);
    expect([...origins]).toEqual([new URL(gateway.link).origin]);
    await context.close();
  },
);

test(
  "what other programs have is chosen one by one; what does not start says so, with what mends it",
  slow,
  async () => {
    const home = scratch();
    mkdirSync(join(home, ".cursor"));
    const broken = { command: "/nowhere/server", args: ["--x"], env: { API_KEY: token } };
    const sly = { command: "npx", args: ["-y", "p\u0430ckage"] };
    writeFileSync(join(home, ".cursor/mcp.json"), JSON.stringify({ mcpServers: { broken, sly } }));
    const gateway = await startGateway(["--no-demo"], { home });
    const { page, context, errors } = await openScreen(browser, gateway.link, {
      viewport: { width: 390, height: 800 },
      colorScheme: "dark",
      bypassCSP: true,
    });
    await button(page, "Menu").click();
    await go(page, "Servers");
    await button(page, "Import …").click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("/nowhere/server --x").waitFor();
    expect(await dialog.textContent()).not.toContain(token);
    // Nothing is chosen beforehand.
    expect(await page.getByRole("checkbox", { checked: true }).count()).toBe(0);
    expect(await button(page, "Look at the change").isDisabled()).toBe(true);
    await page.getByRole("checkbox", { name: /sly/ }).check();
    await button(page, "Look at the change").click();
    await dialog.getByText("This name mixes alphabets: Latin and Cyrillic").waitFor({ state: "attached" });
    await button(page, "Change it").click();
    await page.getByRole("checkbox", { name: /sly/ }).uncheck();
    await page.getByRole("checkbox", { name: /broken/ }).check();
    expect(await axeFaults(page)).toEqual([]);
    await button(page, "Look at the change").click();
    await dialog.getByText("A program is started").waitFor();
    expect(await axeFaults(page)).toEqual([]);
    const isWide = "document.documentElement.scrollWidth > document.documentElement.clientWidth";
    expect(await page.evaluate(isWide)).toBe(false);
    await button(page, "Yes, write and start").click();
    const item = article(page, "broken");
    await item.getByText("mcpx add broken --replace -- FULL/PATH/OF/COMMAND").waitFor();
    expect(await page.evaluate(isWide)).toBe(false);
    expect(await axeFaults(page)).toEqual([]);
    expect(await page.content()).not.toContain(token);
    expect(
      Object.keys(JSON.parse(readFileSync(join(gateway.dataDir, "mcpx.json"), "utf8")).mcpServers),
    ).toEqual(["broken"]);
    expect(errors).toEqual([]);
    await context.close();
  },
);

test(
  "[X1-8-1] a server that never answers delays no page: what is there is shown, what is still to come is said",
  slow,
  async () => {
    const home = scratch();
    mkdirSync(join(home, "data"));
    const mcpServers = {
      tiny: { command: process.execPath, args: [tiny] },
      // It starts and says nothing, and its list may take longer than any page waits.
      mute: { command: process.execPath, args: ["-e", "setInterval(() => {}, 60000)"], listTimeout: "30m" },
    };
    writeFileSync(join(home, "data", "mcpx.json"), JSON.stringify({ mcpServers }));
    const gateway = await startGateway([], { home });
    const { page, context, errors } = await openScreen(browser, gateway.link);
    await go(page, "Servers");
    await article(page, "tiny").getByText("up", { exact: true }).waitFor();
    await article(page, "mute").getByText("starting", { exact: true }).waitFor();
    await article(page, "mute").getByText("its tools are still to come").waitFor();
    // The tools of the others are there.
    await article(page, "tiny").getByText("7 tools").waitFor();
    await go(page, "Rules and grants");
    const rest = page.getByRole("region", { name: "List of rules" });
    await rest.getByText("tiny.params").waitFor();
    await rest.getByText("those of mute").waitFor();
    await goToTool(page, "tiny", "params");
    await page.getByRole("button", { name: "Edit …" }).click();
    await page.getByRole("dialog").getByRole("checkbox").first().waitFor();
    expect(errors).toEqual([]);
    await context.close();
  },
);

test("until the tree has answered once, nothing is said of what it has", slow, async () => {
  const home = scratch();
  mkdirSync(join(home, "data"));
  const mcpServers = { tiny: { command: process.execPath, args: [tiny] } };
  writeFileSync(join(home, "data", "mcpx.json"), JSON.stringify({ mcpServers }));
  const gateway = await startGateway([], { home });
  const context = await browser.newContext();
  const page = await context.newPage();
  // As long as a server that is slow to list would take.
  const listed = Promise.withResolvers<void>();
  await page.route("**/console/api/tree*", async (route) => {
    await listed.promise;
    await route.continue();
  });
  await page.goto(gateway.link);
  await go(page, "Servers");
  await page.getByText("Configured in").waitFor();
  await page.getByRole("navigation").getByText("Loading …").waitFor();
  await page.getByRole("region", { name: "Servers" }).getByText("Loading …").waitFor();
  expect(await page.getByText("No servers.").count()).toBe(0);
  expect(await page.getByText("not in the tree").count()).toBe(0);
  listed.resolve();
  await article(page, "tiny").getByText("up", { exact: true }).waitFor();
  expect(await page.getByText("Loading …").count()).toBe(0);
  await context.close();
});
