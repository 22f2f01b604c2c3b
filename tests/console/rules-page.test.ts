// Rules and tools changed at the page itself: written down only after a person has seen what comes of it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { scratch } from "../cli/support/mcpx-process.ts";
import { axeFaults } from "./support/axe.ts";
import { type ConsoleGateway, enter, startGateway } from "./support/gateway.ts";
import { openScreen } from "./support/screen.ts";
import type { Visitor } from "./support/visitor.ts";

const tiny = join(import.meta.dirname, "../cli/support/tiny-server.ts");
const slow = { timeout: 60_000 };
const api = "/console/api";
let browser: Browser;
let gateway: ConsoleGateway;
let page: Page;
let visitor: Visitor;

const config = () => join(gateway.dataDir, "mcpx.json");
const written = () => readFileSync(config(), "utf8");
const button = (name: string | RegExp) => page.getByRole("button", { name });
const rows = () =>
  page.getByRole("region", { name: "List of rules" }).locator("table").first().locator("tbody tr");
const shownTools = async () =>
  (await rows().locator("td:first-child").allTextContents()).map((one) => one.trim());

beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser.close());

const configText = `{
  "mcpServers": { "tiny": { "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(tiny)}] } },
  "gates": {
    "rules": [
      // agreed in May
      { "tools": "shop.*", "action": "deny" },
      { "tools": "tiny.*", "action": "allow", "where": { "text": "x" } }
    ]
  }
}
`;

test(
  "[AX-11.3-7] rules and tools are changed at their pages, after a person has seen what comes of it",
  slow,
  async () => {
    const home = scratch();
    mkdirSync(join(home, "data"), { mode: 0o700 });
    writeFileSync(join(home, "data/mcpx.json"), configText);
    gateway = await startGateway([], { home });
    visitor = await enter(gateway);
    const { body } = await visitor.call("POST", `${api}/admin/console-links`, { body: {} });
    const link = new URL(String(body.path), gateway.link).href;
    const screen = await openScreen(browser, link, { bypassCSP: true });
    ({ page } = screen);
    await changeRules();
    await refuseRules();
    await changeTool();
    // The name that was refused.
    expect(screen.errors).toEqual([expect.stringContaining("400 (Bad Request)")]);
  },
);

/** Ordered, written, and tried on the last calls before they count. */
async function changeRules(): Promise<void> {
  const call = { body: { tool: "tiny.params", arguments: { text: "x" } } };
  await expect.poll(async () => (await visitor.call("POST", `${api}/call`, call)).status).toBe(200);
  await page.getByRole("navigation").getByRole("link", { name: "Rules and grants" }).click();
  await expect.poll(shownTools).toEqual(["shop.*", "tiny.*"]);
  await button("Move rule 2 up").click();
  expect(await shownTools()).toEqual(["tiny.*", "shop.*"]);
  await button("Discard").click();
  expect(await shownTools()).toEqual(["shop.*", "tiny.*"]);

  await button("Add a rule …").click();
  await button("Add it to the list").click();
  await page.getByRole("alert").getByText("which tools").waitFor();
  await page.getByRole("combobox", { name: "Tools" }).fill("tiny.params");
  await page.getByText("About 1 tool now:").waitFor();
  await page.getByRole("combobox", { name: "Action", exact: true }).selectOption("always_ask");
  await button("Add a condition").click();
  await page.getByRole("textbox", { name: "Argument 1" }).fill("text");
  await page.getByRole("textbox", { name: "Value 1" }).fill("7");
  // No key reaches the cards behind the dialog, and axe finds nothing.
  expect(await axeFaults(page)).toEqual([]);
  await button("Remove condition 1").click();
  await button("Add it to the list").click();
  await button("Remove rule 2").click();
  expect(await shownTools()).toEqual(["shop.*", "tiny.params"]);
  const before = written();

  await button("Look at the change …").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Of the last calls these would have been treated differently").waitFor();
  expect(
    (await dialog.locator("tbody tr").allTextContents()).map((one) => one.replace(/\s+/g, " ").trim()),
  ).toEqual([expect.stringMatching(/^tiny\.params ?1 ?ask ?always ask \*$/)]);
  expect(await axeFaults(page)).toEqual([]);
  await page.keyboard.press("Enter");
  await expect.poll(() => dialog.count()).toBe(0);
  // Enter is No, and the draft is still there.
  expect(written()).toBe(before);
  await button("Look at the change …").click();
  await button("Yes, write the rules").click();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(written()).toContain('// agreed in May\n      { "tools": "shop.*", "action": "deny" },');
  expect(written()).toContain('"always_ask"');
  await expect
    .poll(async () => JSON.stringify((await visitor.call("GET", `${api}/admin/rules`)).body))
    .toContain("always_ask");
  await expect.poll(() => button("Discard").count()).toBe(0);
  const { body } = await visitor.call("GET", `${api}/admin/audit?action=rules.change`);
  expect(body.records).toMatchObject([{ action: "rules.change", detail: { rules: 2 } }]);
}

/** A rule that would be wrong is refused, and nothing is written. */
async function refuseRules(): Promise<void> {
  const before = written();
  for (const rules of [[{ tools: "a", action: "maybe" }], [{ tools: "", action: "ask" }], "no", [7]]) {
    const { status } = await visitor.call("POST", `${api}/servers/preview`, {
      body: { change: { type: "rules", rules } },
    });
    expect(status, JSON.stringify(rules)).toBe(400);
    expect((await visitor.call("POST", `${api}/admin/rules/try`, { body: { rules } })).status).toBe(
      rules === "no" || rules[0] === 7 || (rules[0] as { action: string }).action === "maybe" ? 400 : 200,
    );
  }
  // Control.
  const change = { type: "rules", rules: [{ tools: "a", action: "ask" }] };
  expect((await visitor.call("POST", `${api}/servers/preview`, { body: { change } })).status).toBe(200);
  expect(written()).toBe(before);
}

/** Renamed, given a fixed argument, and disabled. */
async function changeTool(): Promise<void> {
  await page.goto(`${gateway.url.replace("127.0.0.1", "localhost")}/console/tools/tiny.params`);
  await button("Edit …").click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox", { name: /^Name behind/ }).fill("Not Good");
  await button("Look at the change").click();
  await dialog
    .getByRole("alert")
    .getByText(/nothing was written/)
    .waitFor();
  await dialog.getByRole("textbox", { name: /^Name behind/ }).fill("say");
  await dialog.getByRole("textbox", { name: /^Arguments, as JSON/ }).fill('{"text": "hello"}');
  expect(await axeFaults(page)).toEqual([]);
  await button("Look at the change").click();
  await button("Yes, write it").click();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(JSON.parse(written().replace(/\/\/.*/g, "")).mcpServers.tiny.tools).toEqual({
    params: { name: "say", arguments: { text: "hello" } },
  });
  await expect
    .poll(async () => JSON.stringify((await visitor.call("GET", `${api}/tree`)).body.tools))
    .toContain("tiny.say");
  await page.goto(`${gateway.url.replace("127.0.0.1", "localhost")}/console/tools/tiny.say`);
  await button("Edit …").click();
  await dialog.getByRole("checkbox", { name: /^Let callers set text again/ }).check();
  await dialog.getByRole("checkbox", { name: /^Enabled/ }).uncheck();
  await button("Look at the change").click();
  await button("Yes, write it").click();
  await expect.poll(() => dialog.count()).toBe(0);
  expect(JSON.parse(written().replace(/\/\/.*/g, "")).mcpServers.tiny.tools).toEqual({
    params: { name: "say", enabled: false },
  });
  await page.goto(`${gateway.url.replace("127.0.0.1", "localhost")}/console/tools/tiny.say`);
  await page.getByText("The configuration disables this tool.").waitFor();
  const { body } = await visitor.call("GET", `${api}/admin/audit?action=tool.change`);
  expect(body.records).toMatchObject([
    { subject: "tiny params", detail: { changed: ["enabled", "freed"] } },
    { subject: "tiny params", detail: { changed: ["name", "fixed"] } },
  ]);
}
