// Keys and stores of a page, in a real browser.
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { accessStoreCases } from "../../packages/client/src/guard/access-store-cases.ts";
import { openBrowser, openPage, type PageServer, servePage } from "../browser/page.ts";
import { textOf } from "../client/support/house.ts";
import { annMayHeat, startKitchen, topic, wideLimits } from "./support/guarded-kitchen.ts";
import type * as entry from "./support/page-entry.ts";

let site: PageServer;
let browser: Browser;
let page: Page;

beforeAll(async () => {
  site = await servePage("tests/access/support/page-entry.ts");
  browser = await openBrowser();
  ({ page } = await openPage(browser, site.origin));
}, 60_000);

afterAll(async () => {
  await browser.close();
  await site.close();
});

test.each(accessStoreCases.map(({ name }) => name))("in IndexedDB: %s", { timeout: 60_000 }, async (name) => {
  const fault = await page.evaluate(async (wanted) => {
    const { accessStoreCases: cases, createIndexedDbAccessStore: open } = (
      globalThis as unknown as { mcpx: typeof entry }
    ).mcpx;
    const found = cases.find((one) => one.name === wanted);
    if (found === undefined) return "no such case";
    const name = crypto.randomUUID();
    const house = {
      open: (bounds?: object) => open(name, bounds),
      reopen: async (store: { close(): Promise<void> }) => {
        await store.close();
        return open(name);
      },
    };
    return found.run(house).then(
      () => "",
      (error: unknown) => String(error),
    );
  }, name);
  expect(fault).toBe("");
});

test("[AC-4-1] a page signs with a key that nobody can copy, asks and calls", {
  timeout: 60_000,
}, async () => {
  const kitchen = await startKitchen({
    policy: annMayHeat,
    house: { limits: wideLimits, origins: [site.origin] },
  });
  const token = await kitchen.server.token({ sub: "ann", topics: ["**"], level: "full" });
  const result = await page.evaluate(
    async ({ url, own, room: name }) => {
      const { joinRoom, createKey } = (globalThis as unknown as { mcpx: typeof entry }).mcpx;
      const room = await joinRoom({ url, topic: name, token: own, key: await createKey() });
      const answer = await room.peer("oven").callTool("heat", { degrees: 120 });
      await room.close();
      return answer;
    },
    { url: kitchen.server.url, own: token, room: topic },
  );
  expect(textOf(result)).toBe("120 degrees");
  expect(kitchen.events.map(({ type, reason }) => reason ?? type)).toEqual(["missing", "granted", "used"]);
});
