// The other views of the console: audit, rules and grants, tokens, servers.
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { openCard, openScreen, type Screen } from "./support/screen.ts";

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
  expect(screen.errors).toEqual([]);
  await browser.close();
  await scene.end();
});

const go = (name: string) =>
  screen.page.getByRole("navigation").getByRole("link", { name, exact: true }).click();

test("a token is made for somebody, shown once, listed, and taken back", slow, async () => {
  const { page } = screen;
  await go("Tokens");
  await page.getByRole("textbox", { name: "Participant id" }).fill("newcomer");
  await page.getByRole("textbox", { name: "Rooms" }).fill("bakery, team/**");
  await page.getByRole("button", { name: "Make a token" }).click();
  const token = await page.getByRole("textbox", { name: "The new token" }).inputValue();
  expect(await scene.server.identity.tokens.verify(token)).toMatchObject({
    id: "newcomer",
    topics: ["bakery", "team/**"],
    level: "restricted",
    kind: "agent",
    admin: false,
  });
  await page.getByRole("button", { name: "I have it" }).click();
  expect(await page.content()).not.toContain(token);
  const row = page.getByRole("row", { name: /newcomer/ });
  await row.getByRole("button", { name: "Revoke" }).click();
  await expect.poll(() => row.count()).toBe(0);
  expect(await scene.server.call("GET", "/v0/topics", token)).toMatchObject({
    status: 401,
    body: { error: { reason: "token_revoked" } },
  });
});

test("what would become of a call is told, and nothing is called", slow, async () => {
  const { page } = screen;
  await go("Rules and grants");
  await page.getByRole("combobox", { name: "Tool" }).fill("office.shred");
  await page.getByRole("button", { name: "Try, nothing is called" }).click();
  await page
    .getByRole("paragraph")
    .filter({ hasText: "ask" })
    .getByText("The tool is irreversible")
    .waitFor();
  expect(scene.shredded()).toEqual([]);
});

test(
  "[B-KEY-1] a grant is signed, lets the same call through for a while, and is taken back",
  slow,
  async () => {
    const { page } = screen;
    await go("bakery");
    void scene.shred({ paper: "first" });
    await openCard(page, "office.shred");
    await page.getByRole("button", { name: "Allow for a while …" }).click();
    // Nothing is chosen that goes further than it must.
    expect(await page.getByRole("radio", { checked: true }).inputValue()).toBe("same");
    // One click is not enough: somebody has to sign, and nobody can yet.
    await page.getByText("Nobody can sign here yet.").waitFor();
    expect(await page.getByRole("button", { name: "Allow and sign" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "No, go back" }).click();
    await page.getByRole("button", { name: "Approve …" }).click();
    await page.getByRole("button", { name: "Make a key in this browser" }).click();
    await page.getByRole("button", { name: "Yes, approve and sign" }).waitFor();
    await page.getByRole("button", { name: "No, go back" }).click();
    await page.getByRole("button", { name: "Allow for a while …" }).click();
    await page.getByRole("radio", { name: "with any arguments, for an hour" }).check();
    await page.getByRole("button", { name: "Allow and sign" }).click();
    await page.getByText("Granted. The call that waits still needs its own decision.").waitFor();
    expect(await scene.shred({ paper: "second" })).toContain("shred is done");
    expect(scene.shredded()).toEqual(['shred {"paper":"second"}']);
    await go("Rules and grants");
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByText("There are no grants.").waitFor();
    expect(await scene.shred({ paper: "third" })).toContain("confirmation_required");
    expect(scene.shredded()).toHaveLength(1);
    // Where that is wished, the same signature lets the call go that waits.
    await go("bakery");
    await page.getByRole("button", { name: "office.shred" }).filter({ hasText: "third" }).first().click();
    await page.getByRole("button", { name: "Allow for a while …" }).last().click();
    await page.getByRole("checkbox", { name: "and let the call that waits go now" }).check();
    await page.getByRole("button", { name: "Allow and sign" }).click();
    await page.getByText("Granted, and the call that waited goes on.").waitFor();
    await expect.poll(() => scene.shredded()).toContain('shred {"paper":"third"}');
    // Before anybody calls, too: once, and not twice.
    await go("Rules and grants");
    await page.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("button", { name: "Allow beforehand …" }).click();
    const dialog = page.getByRole("dialog", { name: "Allow beforehand" });
    await dialog.getByRole("textbox", { name: /^Who/ }).fill("agent");
    await dialog.getByRole("combobox", { name: /^Which tools/ }).fill("office.*");
    await dialog.getByRole("textbox", { name: /^How often/ }).fill("1");
    // Whatever the gateway wants signed instead is not signed.
    for (const instead of [{ principal: "mallory" }, { tools: "**" }, { ttl_ms: 86_400_000 }, { uses: 9 }]) {
      await page.route("**/admin/grants/terms", async (route) => {
        const response = await route.fetch();
        const answer = await response.json();
        await route.fulfill({ response, json: { ...answer, terms: { ...answer.terms, ...instead } } });
      });
      await dialog.getByRole("button", { name: "Allow and sign" }).click();
      await dialog.getByText("another grant signed than was asked for. Nothing was signed.").waitFor();
      await page.unroute("**/admin/grants/terms");
    }
    await dialog.getByRole("button", { name: "Allow and sign" }).click();
    await page.getByText("Granted: such calls need no approval until the grant ends.").waitFor();
    await page.getByRole("cell", { name: "any arguments, once" }).waitFor();
    expect(await scene.shred({ paper: "fourth" })).toContain("shred is done");
    expect(await scene.shred({ paper: "fifth" })).toContain("confirmation_required");
  },
);

test("[B-AUDIT-1] the audit is searched and taken away as lines of JSON", slow, async () => {
  const { page } = screen;
  await go("Audit");
  await page.getByRole("searchbox", { name: "Search the audit" }).fill("token.issue newcomer");
  await expect.poll(() => page.getByRole("row").count()).toBe(2);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Export 1" }).click(),
  ]);
  const lines = readFileSync(await download.path(), "utf8")
    .trimEnd()
    .split("\n");
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { action: "token.issue", subject: "newcomer" },
  ]);
  expect(lines.join()).not.toContain("eyJ");
});

test("servers say how they are, and what they wrote", slow, async () => {
  const { page } = screen;
  await go("Servers");
  const office = page.getByRole("article").filter({ hasText: "office" });
  await office.getByText("up", { exact: true }).waitFor();
  await office.getByRole("button", { name: "Log of office" }).click();
  await office.getByRole("list").last().waitFor();
});
