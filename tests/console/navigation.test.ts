// The navigation with many rooms and tools, on a desk and on a phone.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinRoom, type Room } from "@mcpx/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { type Scene, startScene } from "./support/scene.ts";
import { openCard, openScreen } from "./support/screen.ts";

let browser: Browser;
let scene: Scene;
let dir: string;
const extra: Room[] = [];
const slow = { timeout: 60_000 };
const serversCount = 20;
const toolsEach = 50;

/** A server with so many tools, in a few lines. */
const many = `
process.stdin.setEncoding("utf8");
let rest = "";
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  for (const line of lines) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) continue;
    const result = method === "initialize"
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "many", version: "1" } }
      : method === "tools/list"
        ? { tools: Array.from({ length: ${toolsEach} }, (_, i) => ({ name: "tool-" + i, inputSchema: { type: "object" } })) }
        : {};
    process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
  }
});
`;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "mcpx-many-"));
  const program = join(dir, "many.mjs");
  writeFileSync(program, many);
  const servers = Object.fromEntries(
    Array.from({ length: serversCount }, (_, i) => [
      `server-${i}`,
      { command: process.execPath, args: [program] },
    ]),
  );
  [browser, scene] = await Promise.all([
    openBrowser(),
    startScene({ servers, limits: { envelopesPerSecondFull: 10_000 } }),
  ]);
  const token = await scene.server.token({ sub: "founder", topics: ["*"], level: "full", kind: "human" });
  for (let i = 0; i < 40; i += 1) {
    extra.push(await joinRoom({ url: scene.server.url, topic: `hall-${i}`, token }));
  }
}, 60_000);

afterAll(async () => {
  await browser.close();
  await Promise.all(extra.map((room) => room.close()));
  await scene.end();
  rmSync(dir, { recursive: true, force: true });
});

test(
  "with a thousand tools and forty rooms every view stays in sight, and a name finds the rest",
  slow,
  async () => {
    const { page, context, errors } = await openScreen(browser, await scene.link(), {
      viewport: { width: 1440, height: 900 },
    });
    const nav = page.getByRole("navigation");
    await nav.getByRole("link", { name: /server-19/ }).waitFor();
    await expect.poll(() => nav.getByRole("link", { name: /server-7 .*50$/ }).count()).toBe(1);
    for (const name of [
      "Topology",
      "Decisions",
      "Metrics",
      "Audit",
      "Rules and grants",
      "Tokens",
      "Servers",
    ]) {
      const box = await nav.getByRole("link", { name, exact: true }).boundingBox();
      expect([name, (box?.y ?? 0) + (box?.height ?? 901) <= 900]).toEqual([name, true]);
    }
    expect(await nav.getByTitle("server-7.tool-13").count()).toBe(0);
    expect(await nav.getByRole("link", { name: /hall-/ }).count()).toBeLessThan(20);
    await nav.getByRole("button", { name: /Show all 41 rooms/ }).click();
    await nav.getByRole("link", { name: "hall-39" }).waitFor();
    await nav.getByRole("searchbox").fill("server-7.tool-13");
    await nav.getByTitle("server-7.tool-13").click();
    await page.getByRole("region", { name: "Tool" }).getByText("server-7.tool-13").waitFor();
    // A favourite stands first, in every tab and after a reload.
    await page.getByRole("button", { name: "Favourite" }).click();
    await nav.getByRole("searchbox").fill("");
    await page.reload();
    await nav.getByRole("heading", { name: "Favourites" }).waitFor();
    await nav.getByRole("link", { name: "server-7.tool-13" }).waitFor();
    // What is said in a room nobody looks at is unread until somebody does.
    const said = await extra[3]?.say("is anybody here?");
    const hall = nav.getByRole("link", { name: /hall-3 / });
    await hall.filter({ hasText: "unread" }).click();
    await page.getByText("is anybody here?").waitFor();
    // What is looked at is read while it is, not only when somebody leaves: the page may be closed.
    const readUpTo = () =>
      page.evaluate('JSON.parse(localStorage.getItem("mcpx-console-read") ?? "{}")["hall-3"]');
    await expect.poll(readUpTo).toBeGreaterThanOrEqual(said?.seq ?? Number.NaN);
    await nav.getByRole("link", { name: "Audit", exact: true }).click();
    await expect.poll(() => nav.getByText("unread").count()).toBe(0);
    // Also in a room this page is in.
    await scene.agent.say("good morning");
    await nav
      .getByRole("link", { name: /bakery/ })
      .filter({ hasText: "unread" })
      .waitFor();
    expect(errors).toEqual([]);
    await context.close();
  },
);

test(
  "what waits in a room that nobody has opened is there, also where much was said since",
  slow,
  async () => {
    const far = extra[39] as Room;
    const propose = (name: string) =>
      far.propose({ to: [], method: "tools/call", params: { name, arguments: { bell: 7 } }, ttlMs: 600_000 });
    propose("toll");
    const { withdraw } = propose("ring");
    for (let i = 0; i < 260; i += 1) await far.say(`line ${i}`);
    // The control: a page that only joins does not see it any more.
    expect((await far.history({ limit: 200 })).envelopes.some(({ kind }) => kind.includes("proposal"))).toBe(
      false,
    );
    const { page, context, errors } = await openScreen(browser, await scene.link());
    const card = (name: string) => page.getByRole("article", { name: `founder asks to call ${name}` });
    const entry = page.getByRole("navigation").getByRole("link", { name: /hall-39/ });
    await card("ring").waitFor();
    await entry.filter({ hasText: /2\s*waiting/ }).waitFor();
    // What this person has rejected does not come back with the page.
    await openCard(page, "toll");
    await card("toll")
      .getByRole("button", { name: /^Reject/ })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Reject", exact: true }).click();
    await entry.filter({ hasText: /1\s*waiting/ }).waitFor();
    await page.reload();
    await card("ring").waitFor();
    await entry.filter({ hasText: /1\s*waiting/ }).waitFor();
    expect(await card("toll").count()).toBe(0);
    await withdraw();
    await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  },
);

test(
  "a phone has a bar at the bottom, with Find; a notice leaves by itself; the page can be installed",
  slow,
  async () => {
    const { page, context, errors } = await openScreen(browser, await scene.link(), {
      viewport: { width: 390, height: 844 },
      hasTouch: true,
      isMobile: true,
    });
    const bar = page.getByRole("navigation", { name: "Go to" });
    await bar.getByRole("button", { name: "Find" }).tap();
    await page.getByRole("dialog").getByRole("combobox").fill("server-3.tool-4");
    await page
      .getByRole("option", { name: /server-3\.tool-4$/ })
      .first()
      .tap();
    await page.getByRole("region", { name: "Tool" }).waitFor();
    await bar.getByRole("button", { name: "Menu" }).tap();
    const audit = page
      .getByRole("navigation", { name: "Rooms and tools" })
      .getByRole("link", { name: "Audit", exact: true });
    await audit.tap();
    await page.getByRole("region", { name: "Audit", exact: true }).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(390);
    const box = await bar.boundingBox();
    expect(Math.round((box?.y ?? 0) + (box?.height ?? 0))).toBe(844);
    await page.getByRole("region", { name: "Audit", exact: true }).waitFor();
    await bar.getByRole("button", { name: "Find" }).tap();
    await page.getByRole("dialog").getByRole("combobox").fill("Notify me");
    await page.keyboard.press("Enter");
    const notice = page.locator(".notice");
    await notice.waitFor();
    await expect.poll(() => notice.count()).toBe(0);
    const manifest = await page.request.get(new URL("/console/manifest.webmanifest", page.url()).href);
    expect(await manifest.json()).toMatchObject({
      name: "mcpx",
      display: "standalone",
      icons: [{ sizes: "any" }],
    });
    expect(errors).toEqual([]);
    await context.close();
  },
);
