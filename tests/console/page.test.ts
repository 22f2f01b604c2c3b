// The page itself: everybody can use it, and nothing that strangers send can use it.
import type { JsonObject } from "@mcpx/protocol";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { axeFaults } from "./support/axe.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { openCard, openScreen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
const slow = { timeout: 60_000 };

beforeAll(async () => {
  [browser, scene] = await Promise.all([openBrowser(), startScene()]);
}, 60_000);

afterAll(async () => {
  await browser.close();
  await scene.end();
});

/** In the dark only colours are others. */
const faultsOf = (page: Page, isDark = false) => axeFaults(page, isDark ? ["color-contrast"] : undefined);

const views = ["Audit", "Rules and grants", "Tokens", "Servers", "Bridges"];

test.each([
  { colorScheme: "light", width: 1280, keys: ["a", "d", "Control+k"], views },
  { colorScheme: "dark", width: 1280, keys: ["e"], views: ["Rules and grants", "Tokens"] },
  { colorScheme: "light", width: 390, keys: ["d"], views: ["Audit"] },
] as const)(
  "axe finds nothing wrong, $colorScheme, $width pixels wide",
  slow,
  async ({ colorScheme, width, keys, views }) => {
    const isDark = colorScheme === "dark";
    const { page, context } = await openScreen(browser, await scene.link(), {
      colorScheme,
      viewport: { width, height: 800 },
      bypassCSP: true,
    });
    const { withdraw } = scene.propose(
      { celsius: 200, password: "hunter2", deep: [1, { a: null }] },
      "please",
    );
    await openCard(page, "heat");
    await scene.agent.say("hello");
    await page.getByText("hello").first().waitFor();
    expect(await faultsOf(page, isDark)).toEqual([]);
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.getByRole("dialog").waitFor();
      expect([key, ...(await faultsOf(page, isDark))]).toEqual([key]);
      await page.keyboard.press("Escape");
      await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    }
    for (const name of views) {
      await page.keyboard.press("Control+k");
      await page.keyboard.type(name);
      await page.keyboard.press("Enter");
      await page.getByRole("region", { name, exact: true }).getByRole("heading", { name }).waitFor();
      expect([name, ...(await faultsOf(page, isDark))]).toEqual([name]);
    }
    await withdraw();
    await context.close();
  },
);

test("axe can find something wrong: the control", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link(), { bypassCSP: true });
  await page.getByRole("link", { name: "bakery" }).waitFor();
  await page.evaluate("document.body.append(document.createElement('button'))");
  expect((await faultsOf(page)).join()).toContain("button-name");
  await context.close();
});

const owned = "document.title='owned'";
const markup = `<img src=x onerror="${owned}"><script>${owned}</script><a href="javascript:${owned}">x</a>{{7*7}}\${alert(1)}`;

test(
  "[X0-9-2] whatever strangers send is text: nothing runs, nothing hides, nothing misleads",
  slow,
  async () => {
    const { page, context, errors, origins } = await openScreen(browser, await scene.link());
    await page.getByRole("link", { name: "bakery" }).waitFor();
    const mallory = await scene.join({
      sub: "mallory",
      level: "full",
      kind: "human",
      name: markup.slice(0, 60),
    });
    await mallory.say(`${markup} photo\u202egpj.exe\u200b`);
    await mallory.publish({ kind: "chat", payload: { text: "x".repeat(200_000) } });
    const { withdraw } = scene.propose(
      {
        html: markup,
        hidden: "photo\u202egpj.exe\u200b\u0000",
        long: `${"a".repeat(100_000)} && rm -rf / #`,
        password: "hunter2",
        "key\u202e<b>": 1,
        __proto__x: { constructor: "y" },
        many: Array.from({ length: 2_000 }, (_, i) => i),
      },
      `Harmless. ${markup}`,
      `heat${"<b>".repeat(5)}`,
    );
    await openCard(page, "heat<b>");
    const card = page.locator("article.open");
    const text = (await card.textContent()) ?? "";
    expect(text).toContain("<script>");
    expect(text).toContain("photoU+202Egpj.exeU+200BU+0000");
    expect(text).toContain("keyU+202E<b>");
    expect(text).toContain("rm -rf / #");
    expect(text).toMatch(/show [\d,]+ more characters/);
    expect(text).toContain("show 1,950 more");
    expect(text).not.toContain("hunter2");
    await page.getByRole("button", { name: "show what looks like a secret" }).click();
    // It is recorded first that somebody looks.
    await card.getByText('"hunter2"').waitFor();
    expect(await page.locator("#app").locator("img, script, a:not([href^='/']), iframe, b").count()).toBe(0);
    expect(await page.title()).toMatch(/^\(\d+\) mcpx$/);
    // The whole of it can be seen, and the page is still there for the next key.
    const began = performance.now();
    await card
      .getByRole("button", { name: /more characters/ })
      .last()
      .click();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    expect(performance.now() - began).toBeLessThan(5_000);
    await page.keyboard.press("Escape");
    expect(errors).toEqual([]);
    expect(origins.size).toBe(1);
    await withdraw();
    await mallory.close();
    await context.close();
  },
);

/** So many objects, one in the other. */
const nested = (levels: number): JsonObject =>
  levels === 0 ? { command: "rm -rf /" } : { in: nested(levels - 1) };

test(
  "[AX-11.3-2] what stands deep is folded, said to be, and seen when asked for; no text looks like more than one",
  slow,
  async () => {
    const { page, context, errors } = await openScreen(browser, await scene.link());
    void scene.shred({
      path: '/tmp/a"\nforce true\npath "/tmp/b',
      'path "/tmp/c" force': true,
      empty: { list: [], none: {} },
      deep: nested(100),
    });
    await openCard(page, "office.shred");
    await page.getByRole("button", { name: "Approve …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("deep: what is folded or below belongs to the call too").waitFor();
    const text = () => dialog.locator(".arguments").textContent();
    expect(await text()).toContain('"/tmp/a\\"↵\nforce true↵\npath \\"/tmp/b"');
    expect(await text()).toMatch(/list\s*\[ \]\s*none\s*\{ \}/);
    // Each text has its border, and so has a name that could be taken for a name and its value.
    const boxes = await dialog.locator(".boxed").allTextContents();
    expect(boxes.map((box) => box.slice(0, 8))).toEqual(['"/tmp/a\\', 'path "/t']);
    expect(await text()).not.toContain("rm -rf /");
    const fold = dialog.getByRole("button", { name: "show 1 value" });
    for (let opened = 0; opened < 10 && (await fold.count()) > 0; opened += 1) await fold.click();
    expect(await text()).toContain('command "rm -rf /"');
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Reject …" }).click();
    await page.getByRole("button", { name: "Make a key in this browser" }).click();
    await page.getByRole("button", { name: "Reject and sign" }).click();
    await page.getByText(/^Rejected by .+ Nothing has happened\.$/).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  },
);

test("[X0-9-2] a link with a made-up half logs nobody out, in no tab", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  await page.getByRole("link", { name: "bakery" }).waitFor();
  const { origin } = new URL(page.url());
  const lured = await context.newPage();
  await lured.goto(`${origin}/#in=${"A".repeat(43)}`);
  await lured.getByRole("link", { name: "bakery" }).waitFor();
  expect(new URL(lured.url()).hash).toBe("");
  await page.reload();
  await page.getByRole("link", { name: "bakery" }).waitFor();
  // The control: who was not logged in is not by such a link.
  const stranger = await openScreen(browser, `${origin}/#in=${"A".repeat(43)}`);
  await stranger.page.getByText("You are not logged in.").waitFor();
  await stranger.context.close();
  await context.close();
});

test("a link that was used says so to who is not logged in, and nothing to who is", slow, async () => {
  const link = await scene.link();
  const { page, context } = await openScreen(browser, link);
  await page.getByRole("link", { name: "bakery" }).waitFor();
  await page.goto(link);
  await page.getByRole("link", { name: "bakery" }).waitFor();
  expect(new URL(page.url()).hash).toBe("");
  const stranger = await openScreen(browser, link);
  await stranger.page.getByText("This link was used already, or is too old.").waitFor();
  await stranger.context.close();
  await context.close();
});

test("a name that could be taken for another is marked", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  await page.getByRole("link", { name: "bakery" }).waitFor();
  // Ids have plain letters only; what a tool is called is anybody's choice.
  scene.propose({ to: "x" }, "tool", "h\u0435at");
  await openCard(page, "h\u0435at");
  expect(await page.getByText("This name mixes alphabets: Latin and Cyrillic").count()).toBeGreaterThan(0);
  // To nobody in particular: who approves says who shall do it.
  await page.getByRole("button", { name: "Approve …" }).click();
  await page.getByRole("combobox", { name: /Which participant makes the call/ }).selectOption("robot");
  await page.getByRole("button", { name: "Yes, approve" }).click();
  await expect.poll(() => scene.called.splice(0)).toEqual([{ to: "x" }]);
  await context.close();
});

test("the policy of the page stops what would run: the control", slow, async () => {
  const { page, context, errors } = await openScreen(browser, await scene.link());
  await page.getByRole("link", { name: "bakery" }).waitFor();
  const outcome = await page.evaluate(async () => {
    const { document, fetch } = globalThis as unknown as {
      document: {
        body: { append(node: unknown): void; innerHTML: string };
        createElement(tag: string): { textContent: string };
      };
      fetch(url: string): Promise<unknown>;
    };
    const script = document.createElement("script");
    try {
      script.textContent = "document.title='owned'";
      document.body.append(script);
    } catch {
      // Trusted types refuse already here.
    }
    return fetch("http://127.0.0.1:1/").then(
      () => "sent",
      () => "refused",
    );
  });
  expect(outcome).toBe("refused");
  expect(await page.title()).not.toBe("owned");
  expect(errors.join()).toMatch(/Content Security Policy|TrustedScript/i);
  await context.close();
});

test("only the rows that can be seen are there, whatever their number", slow, async () => {
  const { page, context } = await openScreen(browser, await scene.link());
  const chatty = await scene.join({ sub: "chatty", level: "full", kind: "human" });
  await Promise.all(Array.from({ length: 150 }, (_, i) => chatty.say(`line ${i}`)));
  await page.getByText("line 149").waitFor();
  expect(await page.getByRole("region", { name: "Envelopes" }).getByRole("listitem").count()).toBeLessThan(
    80,
  );
  await page.getByRole("searchbox", { name: "Search the timeline" }).fill("LINE 7");
  await page.getByText("line 7", { exact: true }).waitFor();
  expect(await page.getByRole("region", { name: "Envelopes" }).getByRole("listitem").count()).toBe(11);
  await chatty.close();
  await context.close();
});
