// What the lines of a room say of signatures: real signers, and a gateway that alters what it passes on.
import { joinRoom } from "@mcpx/client";
import { createKey } from "@mcpx/client/signing";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openBrowser } from "../browser/page.ts";
import { axeFaults } from "./support/axe.ts";
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

type Key = Awaited<ReturnType<typeof createKey>>;

async function say(text: string, sign?: Key) {
  const token = await scene.server.token({ sub: "alice", topics: ["bakery"], level: "full" });
  const room = await joinRoom({
    url: scene.server.url,
    topic: "bakery",
    token,
    ...(sign === undefined ? {} : { sign }),
  });
  await room.say(text);
  await room.close();
}

/** The title of the mark on the line with this text; empty where there is none. */
async function markOf(page: Page, text: string): Promise<string> {
  const line = page.getByRole("region", { name: "Envelopes" }).getByRole("button").filter({ hasText: text });
  await line.waitFor();
  const mark = line.locator(".signature");
  return (await mark.count()) === 0 ? "" : ((await mark.getAttribute("title")) ?? "");
}

test("[X0-9-7] each line says whether its signature is right, by which key, and nothing where it is not signed", {
  timeout: 90_000,
}, async () => {
  const [own, other] = [await createKey(), await createKey()];
  const { page, context, errors } = await openScreen(browser, await scene.link(), { bypassCSP: true });
  await page.getByRole("link", { name: "bakery" }).click();
  await scene.agent.say("plain words");
  await say("first words", own);
  await expect.poll(() => markOf(page, "first words")).toMatch(/known from this gateway only/);
  await say("second words", own);
  await expect.poll(() => markOf(page, "second words")).toMatch(/^Signed with the known key/);
  await say("changed words", other);
  await expect.poll(() => markOf(page, "changed words")).toMatch(/another key than the known one/);
  await say("naked words");
  await expect.poll(() => markOf(page, "naked words")).toMatch(/^Not signed, although/);
  expect(await markOf(page, "plain words")).toBe("");
  // From now on the gateway alters one line; the keys are known from before.
  await context.routeWebSocket(/.*/, (socket) => {
    const honest = socket.connectToServer();
    honest.onMessage((message) => socket.send(String(message).replaceAll("third words", "other words")));
  });
  await page.reload();
  await page.getByRole("link", { name: "bakery" }).click();
  await say("third words", own);
  await expect.poll(() => markOf(page, "other words")).toMatch(/^Signature wrong/);
  await expect.poll(() => markOf(page, "first words")).toMatch(/^Signed with the known key/);
  expect(await axeFaults(page)).toEqual([]);
  expect(errors).toEqual([]);
  await context.close();
});
