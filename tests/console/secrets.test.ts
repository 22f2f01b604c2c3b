// What looks like a secret in arguments is shown nowhere until somebody asks for it, and that they did is in the audit.
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { mcpx, scratch } from "../cli/support/mcpx-process.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { cards, openCard, openScreen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
const slow = { timeout: 120_000 };
const byName = "hunter2hunter2";
const byShape = "ghp_0123456789abcdefABCDEF0123456789abcd";
const bySchema = "opensesame";
const secrets = [byName, byShape, bySchema];
const args = { owner: "old-mother", password: byName, note: byShape, word: bySchema };

/** Of the robot's tool in the room. */
const inputSchema = { type: "object", properties: { word: { type: "string", format: "password" } } };

beforeAll(async () => {
  const locksmith = join(import.meta.dirname, "../gates/support/locksmith.ts");
  const servers = { locksmith: { command: process.execPath, args: [locksmith], trusted: true } };
  [browser, scene] = await Promise.all([openBrowser(), startScene({ servers, inputSchema })]);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

const seenIn = async (page: Page) => {
  const text = (await page.locator("body").textContent()) ?? "";
  return secrets.filter((secret) => text.includes(secret));
};
const shownRecords = async () => {
  const { body } = await scene.server.callHere("GET", "/admin/audit?action=secret.show");
  return body.records as { actor?: string; topic?: string; detail: Record<string, unknown> }[];
};

test(
  "arguments are masked by schema, by name and by shape on the card, folded and open, until somebody asks",
  slow,
  async () => {
    const { page, context } = await openScreen(browser, await scene.link());
    void scene.call("locksmith.unlock", args);
    const card = cards(page).filter({ hasText: "locksmith.unlock" });
    await card.waitFor();
    // Folded: the control is what is no secret.
    await card.getByText("old-mother").first().waitFor();
    expect(await seenIn(page)).toEqual([]);
    await openCard(page, "locksmith.unlock");
    await expect
      .poll(() => card.getByRole("button", { name: "show what looks like a secret" }).count())
      .toBe(3);
    expect(await seenIn(page)).toEqual([]);
    expect(await shownRecords()).toEqual([]);
    await card.getByRole("button", { name: "show what looks like a secret" }).last().click();
    await card.getByText(bySchema).waitFor();
    expect(await seenIn(page)).toEqual([bySchema]);
    const [record] = await shownRecords();
    const { gates } = (await scene.server.callHere("GET", "/admin/gates?status=pending")).body;
    expect(record).toMatchObject({
      actor: expect.stringContaining("console:"),
      detail: { gate: gates[0].id },
    });
    expect(JSON.stringify(record)).not.toContain(bySchema);

    // The page that the call names does the same.
    const other = await context.newPage();
    await other.goto(`${new URL(page.url()).origin}/approve/${gates[0].id}`);
    await other.getByText("old-mother").waitFor();
    expect(await seenIn(other)).toEqual([]);
    await other.getByRole("button", { name: "show what looks like a secret" }).first().click();
    await other.getByText(byName).waitFor();
    expect(await shownRecords()).toHaveLength(2);
    await context.close();
  },
);

test("what cannot be recorded is not shown", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  await openCard(page, "locksmith.unlock");
  await context.route("**/secrets/shown", (route) => route.abort());
  const card = cards(page).filter({ hasText: "locksmith.unlock" });
  await card.getByRole("button", { name: "show what looks like a secret" }).first().click();
  await card.getByText("so it is not shown").waitFor();
  expect(await seenIn(page)).toEqual([]);
  await context.close();
});

test(
  "timeline and sequence of a room mask them, by the schema of a participant's tool too",
  slow,
  async () => {
    const { page, context } = await openScreen(browser, await scene.link());
    const made = scene.propose({ celsius: 180, password: byName, note: byShape, word: bySchema });
    made.result.catch(() => undefined);
    await page.getByRole("link", { name: "bakery" }).click();
    await page.getByText("180").first().waitFor();
    expect(await seenIn(page)).toEqual([]);
    await page.getByRole("button", { name: "Sequence" }).click();
    await page.getByText("heat").first().waitFor();
    expect(await seenIn(page)).toEqual([]);
    await context.close();
  },
);

test("the terminal masks them, and --secrets shows and records it", slow, async () => {
  const token = await scene.server.adminToken();
  const pending = (...more: string[]) =>
    mcpx(["pending", ...more, "--url", scene.server.url, "--token", token], { cwd: scratch() });
  const before = (await shownRecords()).length;
  const masked = await pending();
  expect(masked.out).toContain("old-mother");
  for (const secret of secrets) expect(masked.out).not.toContain(secret);
  expect(masked.out).toContain("3 values look like a secret: --secrets shows it");
  expect(await shownRecords()).toHaveLength(before);
  const open = await pending("--secrets");
  for (const secret of secrets) expect(open.out).toContain(secret);
  expect((await shownRecords()).length).toBeGreaterThan(before);
});

test("neither the log nor the audit has them", async () => {
  const { body } = await scene.server.callHere("GET", "/admin/audit?limit=1000");
  for (const secret of secrets) {
    expect(JSON.stringify(body)).not.toContain(secret);
    expect(scene.server.logged.join("")).not.toContain(secret);
  }
});
