// The SDK in a real browser, from a page of another origin that the gateway allows.
import type * as client from "@mcpx/client";
import { joinRoom } from "@mcpx/client";
import { McpServer } from "@modelcontextprotocol/server";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { openBrowser, openPage, type PageServer, servePage } from "./page.ts";

let server: TestServer;
let site: PageServer;
let browser: Browser;

beforeAll(async () => {
  site = await servePage();
  server = await startTestServer({ origins: [site.origin] });
  browser = await openBrowser();
}, 60_000);

afterAll(async () => {
  await browser.close();
  await site.close();
  await server.stop();
});

const token = (sub: string, level: "full" | "restricted") => server.token({ sub, topics: ["plaza"], level });

test("[X0-5.1-1] [X0-12-3] a page trades its token for a ticket, joins, hears, says, and sees who is there", {
  timeout: 60_000,
}, async () => {
  await using ann = await joinRoom({ url: server.url, topic: "plaza", token: await token("ann", "full") });
  const heard = ann.events("chat")[Symbol.asyncIterator]();
  const { page, errors } = await openPage(browser, site.origin);
  const joined = page.evaluate(
    async ([url = "", own = ""]) => {
      const { joinRoom: join } = (globalThis as unknown as { mcpx: typeof client }).mcpx;
      const room = await join({ url, topic: "plaza", token: own });
      const chat = room.events("chat")[Symbol.asyncIterator]();
      const { seq } = await room.say("hello from a page");
      const { value } = await chat.next();
      const peers = room.peers.map(({ id }) => id);
      const { level, id } = room;
      await room.close();
      return { id, level, peers, seq, heard: value?.text };
    },
    [server.url, await token("page", "restricted")],
  );
  const { value } = await heard.next();
  expect(value).toMatchObject({ from: "page", text: "hello from a page" });
  await ann.say("hello page");
  expect(await joined).toEqual({
    id: "page",
    level: "restricted",
    peers: ["ann"],
    seq: 1,
    heard: "hello page",
  });
  expect(errors).toEqual([]);
  await page.close();
});

test("[X0-12-1] [X1-4.2.1-1] a page calls a peer's tool; restricted, its call is a proposal that somebody fulfils", {
  timeout: 60_000,
}, async () => {
  await using robot = await joinRoom({
    url: server.url,
    topic: "plaza",
    token: await token("robot", "full"),
  });
  const echo = new McpServer({ name: "echo", version: "1.0.0" });
  const inputSchema = z.object({ text: z.string() });
  echo.registerTool("echo", { inputSchema }, ({ text }) => ({ content: [{ type: "text", text }] }));
  await robot.serve(echo);
  await using ann = await joinRoom({ url: server.url, topic: "plaza", token: await token("ann", "full") });
  ann.addEventListener("proposal", ({ detail: { type, proposal } }) => {
    if (type === "proposed") void ann.proposals.fulfil(proposal);
  });
  const { page, errors } = await openPage(browser, site.origin);
  for (const level of ["full", "restricted"] as const) {
    const result = await page.evaluate(
      async ([url = "", own = ""]) => {
        const { joinRoom: join } = (globalThis as unknown as { mcpx: typeof client }).mcpx;
        const room = await join({ url, topic: "plaza", token: own });
        const { content } = await room.peer("robot").callTool("echo", { text: `I am ${room.level}` });
        await room.close();
        return content;
      },
      [server.url, await token(`page-${level}`, level)],
    );
    expect(result).toEqual([{ type: "text", text: `I am ${level}` }]);
  }
  expect(ann.proposals.all().map(({ proposer, status }) => [proposer, status])).toEqual([
    ["page-restricted", "fulfilled"],
  ]);
  expect(errors).toEqual([]);
  await page.close();
});

test("[X0-9-2] a page of an origin the gateway does not know gets nowhere", { timeout: 60_000 }, async () => {
  const strange = await servePage();
  const { page } = await openPage(browser, strange.origin);
  const outcome = await page.evaluate(
    async ([url = "", own = ""]) => {
      const { joinRoom: join } = (globalThis as unknown as { mcpx: typeof client }).mcpx;
      return join({ url, topic: "plaza", token: own, joinTimeoutMs: 2_000 }).then(
        () => "joined",
        () => "refused",
      );
    },
    [server.url, await token("thief", "full")],
  );
  expect(outcome).toBe("refused");
  await page.close();
  await strange.close();
});
