// `node --conditions=mcpx-source scripts/bridge-pictures.ts`: draws docs/pictures/cards.png, cards on Slack and Discord as
// the fixtures of both have received them from a gateway: one that waits, and one that was approved.
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  bridgeMigrations,
  createDiscordPlatform,
  createSlackPlatform,
  createSqliteStore,
  issueCode,
} from "@mcpx/bridges";
import { joinRoom } from "@mcpx/client";
import { openDatabase } from "@mcpx/host";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { chromium } from "playwright-core";
import { z } from "zod";
import { readMarkup } from "../tests/bridges/support/discord-markup.ts";
import { discordToken, startDiscord } from "../tests/bridges/support/discord-server.ts";
import type { SlackBlock } from "../tests/bridges/support/slack-blocks.ts";
import { slackTokens, startSlackWorkspace } from "../tests/bridges/support/slack-workspace.ts";
import { startTestServer } from "../tests/support/test-server.ts";

const topic = "ops";
const slack = await startSlackWorkspace();
const discord = await startDiscord();
const bridgeTo = (
  name: "slack" | "discord",
  channel: string,
  open: () => ReturnType<typeof createSlackPlatform>,
) => ({
  ...{ name, kind: name, channels: new Map([[channel, topic]]), unlinked: "read" as const, reach: "", open },
});
const server = await startTestServer({
  bridges: [
    bridgeTo("slack", slack.channel, () =>
      createSlackPlatform({
        botToken: () => slackTokens.bot,
        appToken: () => slackTokens.app,
        apiUrl: slack.apiUrl(),
      }),
    ),
    bridgeTo("discord", discord.channel, () =>
      createDiscordPlatform({ token: () => discordToken, apiUrl: `http://127.0.0.1:${discord.port}/api` }),
    ),
  ],
});
const joinAs = async (id: string, level: "full" | "restricted") =>
  joinRoom({ url: server.url, topic, token: await server.token({ sub: id, topics: [topic], level }) });
const robot = await joinAs("robot", "full");
await robot.serve(() => {
  const tools = new McpServer({ name: "robot", version: "1.0.0" });
  tools.registerTool("move", { inputSchema: { where: z.string(), speed: z.string() } }, () => ({
    content: [],
  }));
  return tools as never;
});
const agent = await joinAs("planner", "restricted");
await server.bridges.ready;
const db = openDatabase(join(server.dataDir, "state.db"), {
  component: "bridges",
  migrations: bridgeMigrations,
});
const made = await issueCode(
  createSqliteStore(db),
  { bridge: "slack", participant: "alice", level: "full" },
  Date.now(),
);
await slack.tell("U0ALICE", `link ${made?.code}`);
await until(() => slack.whispers.length === 1);
for (const [where, reason] of [
  ["dock 7", "a parcel waits there"],
  ["dock 9", "the way to dock 9 is free again"],
] as const) {
  const params = { name: "move", arguments: { where, speed: "slow" } };
  agent.propose({ to: "robot", method: "tools/call", params, ttlMs: 600_000, reason }).result.catch(() => {});
}
await until(() => slack.posts.length === 2 && discord.posts.length === 2);
const buttons = slack.posts[0]?.blocks.find(({ type }) => type === "actions")?.elements ?? [];
await slack.press("U0ALICE", "approve", buttons[0]?.value ?? "");
await until(
  () => [...slack.posts, ...discord.posts].filter(({ text }) => text.includes("done")).length === 2,
);

const page = `<style>
  body { margin: 0; padding: 24px; width: 1080px; display: grid; grid-template-columns: 1fr 1fr; gap: 24px; background: #e7e7ea;
         font: 15px/1.45 "DejaVu Sans", sans-serif }
  .channel { border-radius: 10px; padding: 18px; display: grid; gap: 20px; align-content: start }
  .slack { background: #fff; color: #1d1c1d } .discord { background: #313338; color: #dbdee1 }
  h2 { font-size: 15px; margin: 0; opacity: .7 } .post { display: grid; grid-template-columns: 36px 1fr; gap: 10px }
  .face { width: 36px; height: 36px; border-radius: 8px; background: #4a3aa7; color: #fff; display: grid; place-items: center }
  .discord .face { border-radius: 50% } .name { font-weight: bold } .text { white-space: pre-wrap; overflow-wrap: anywhere }
  pre { margin: 6px 0; padding: 8px; border-radius: 4px; white-space: pre-wrap; font-size: 13px }
  .slack pre { background: #f8f8f8; border: 1px solid #ddd } .discord pre { background: #2b2d31; border: 1px solid #1e1f22 }
  button { font: inherit; font-weight: bold; border-radius: 5px; padding: 5px 14px; margin: 8px 8px 0 0; border: 1px solid #bbb; background: #fff }
  .discord button { border: 0; color: #fff; background: #4e5058 }
  .primary, .discord .s3 { background: #007a5a; color: #fff } .danger, .discord .s4 { background: #c0304c; color: #fff }
</style>
<div class="channel slack"><h2># ops on Slack</h2>${slack.posts.map(({ blocks }) => post(blocks.map(slackBlock).join(""))).join("")}</div>
<div class="channel discord"><h2># ops on Discord</h2>${discord.posts.map(({ body }) => post(discordBody(body))).join("")}</div>`;
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
const tab = await browser.newPage({ viewport: { width: 1128, height: 400 } });
await tab.setContent(page);
await tab.screenshot({
  path: join(import.meta.dirname, "..", "docs", "pictures", "cards.png"),
  fullPage: true,
});
await browser.close();
await Promise.all([robot.close(), agent.close()]);
db.close();
await server.stop();
await Promise.all([slack.close(), discord.close()]);

function post(inside: string): string {
  return `<div class="post"><div class="face">m</div><div><div class="name">mcpx</div>${inside}</div></div>`;
}

function slackBlock({ type, elements }: SlackBlock): string {
  if (type === "actions")
    return elements
      .map(({ text, style }) => `<button class="${style ?? ""}">${html(text?.text ?? "")}</button>`)
      .join("");
  return elements
    .map((element) => {
      const words = (element.elements ?? []).map(({ text, style }) =>
        style?.bold ? `<b>${html(text)}</b>` : html(text),
      );
      return element.type === "rich_text_preformatted"
        ? `<pre>${words.join("")}</pre>`
        : `<div class="text">${words.join("")}</div>`;
    })
    .join("");
}

function discordBody({ content = "", components = [] }: (typeof discord.posts)[number]["body"]): string {
  const text = content
    .split(/(```\n[\s\S]*?\n```|\*\*[^*]+\*\*)/)
    .map((piece) => {
      if (piece.startsWith("```")) return `<pre>${html(readMarkup(piece).shown)}</pre>`;
      const shown = html(readMarkup(piece).shown.replace(/^\n|\n$/g, ""));
      return piece.startsWith("**") ? `<b>${shown}</b>\n` : shown;
    })
    .join("");
  const all = components.flatMap(({ components: row }) => row);
  return `<div class="text">${text}</div>${all.map(({ label, style }) => `<button class="s${style}">${html(label)}</button>`).join("")}`;
}

function html(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!isSo()) {
    if (Date.now() > deadline) throw new Error("the cards did not come");
    await wait(20);
  }
}
