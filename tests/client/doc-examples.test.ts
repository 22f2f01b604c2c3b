// Every exported function and method of the client has an example in its comment; every one of them is run.
import { globSync, readFileSync } from "node:fs";
import { dirname, join as joinPath } from "node:path";
import * as client from "@mcpx/client";
import { createKeyBook } from "@mcpx/client/signing";
import { Client } from "@modelcontextprotocol/client";
import { McpServer } from "@modelcontextprotocol/server";
import { expect, test } from "vitest";
import { join, nextEvent, seen, startHouse } from "./support/house.ts";

const root = joinPath(dirname(dirname(import.meta.dirname)), "packages/client/src/room");
const comment = /\/\*\*((?:(?!\*\/)[\s\S])*?)\*\/\s*(?:export )?(?:async )?(?:function )?(\w+)/g;

function examples(): { name: string; code: string }[] {
  return globSync("*.ts", { cwd: root }).flatMap((file) => {
    const text = readFileSync(joinPath(root, file), "utf8");
    return [...text.matchAll(comment)].flatMap(([, body = "", name = ""]) => {
      const [, code] = body.replace(/\n\s*\* ?/g, "\n").split("@example");
      return code === undefined ? [] : [{ name: `${file} ${name}`, code: code.trim() }];
    });
  });
}

/** Public methods of a class, by its source. */
function publicMethods(file: string): string[] {
  const text = readFileSync(joinPath(root, file), "utf8");
  const body = text.slice(text.indexOf("export class"));
  return [
    ...body.matchAll(/^ {2}(?:async )?(?!constructor|get |if|for|return)([a-z]\w*)(?:<[^(]*>)?\(/gm),
  ].map(([, name = ""]) => `${file} ${name}`);
}

test("every public function and method has an example", () => {
  const shown = new Set(examples().map(({ name }) => name));
  const owed = [
    "join-room.ts joinRoom",
    ...["room.ts", "peer.ts", "room-proposals.ts"].flatMap(publicMethods),
  ];
  expect(owed.length).toBeGreaterThan(20);
  expect(owed.filter((name) => !shown.has(name))).toEqual([]);
});

const AsyncFunction: new (...args: string[]) => (...args: unknown[]) => Promise<unknown> =
  Object.getPrototypeOf(async () => {}).constructor;

test.each(examples().map(({ name, code }) => [name, code]))("the example of %s runs", async (_name, code) => {
  const house = await startHouse();
  const topic = "kitchen";
  const oven = await join(house, "oven", { topic });
  const server = new McpServer({ name: "oven", version: "1.0.0" });
  const heat = async () => ({ content: [{ type: "text" as const, text: "warm" }] });
  server.registerTool("heat", {}, heat);
  await oven.serve(server);
  const archive = await join(house, "archive", { topic });
  const papers = new McpServer({ name: "archive", version: "1.0.0" });
  papers.registerTool("none", {}, heat);
  papers.registerResource("note", "note://today", {}, async ({ href }) => ({
    contents: [{ uri: href, text: "salt" }],
  }));
  papers.registerPrompt("summary", {}, async () => ({ messages: [] }));
  await archive.serve(papers, { resources: topic, prompts: true });
  const room = await join(house, "alice", { topic, verify: createKeyBook() });
  const rookie = await join(house, "rookie", { topic, level: "restricted" });
  await seen(room, "rookie");
  const proposed = nextEvent(room, "proposal", ({ type }) => type === "proposed");
  const { id } = rookie.propose({ to: "oven", method: "tools/call", params: { name: "heat" } });
  const { proposal } = await proposed;
  const token = await house.token({ sub: "reader", topics: ["**"], level: "full" });
  const context = {
    ...client, Client, McpServer, room, token, id, proposal, onChat: () => {}, show: () => {},
    console: { log: () => {} },
  }; // biome-ignore format: one line reads best
  const text = code.replaceAll("http://127.0.0.1:6279", house.url);
  const run = new AsyncFunction(...Object.keys(context), `{ ${text} }`)(...Object.values(context));
  // Loops over events end with the room.
  if (text.startsWith("for await")) await room.close();
  await run;
});
