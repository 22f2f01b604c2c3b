// What a server says is read in turns, over whichever wire it comes: who says much makes others wait for one piece of it.
import { createTurns } from "@mcpx/host";
import { expect, test } from "vitest";
import { openTo } from "./support/open.ts";
import { events, json, rawHttp } from "./support/raw-http.ts";

const count = 20_000;
const notice = JSON.stringify({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { level: "info", data: "x".repeat(40) },
});

/** A server that answers a call with very many notifications before its result. */
async function talkative(): Promise<string> {
  const { url } = await rawHttp(({ message, response }) => {
    if (message?.method === "server/discover") {
      const result = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} };
      json(response, { jsonrpc: "2.0", id: message.id, result });
    } else {
      const result = { resultType: "complete", content: [] };
      events(response, [
        ...Array(count).fill(notice),
        JSON.stringify({ jsonrpc: "2.0", id: message.id, result }),
      ]);
      response.end();
    }
  });
  return url;
}

/** The most notifications that came in one turn of the loop, somebody else being about. */
async function mostInOneTurn(isPaced: boolean): Promise<number> {
  const turns = createTurns();
  const other = turns.account("somebody else");
  let heard = 0;
  let seen = 0;
  let most = 0;
  let isOver = false;
  const { ask } = await openTo(
    { type: "http", url: await talkative() },
    {
      limits: { notificationRate: count },
      ...(isPaced && { turns }),
    },
  );
  const hear = () => {
    heard += 1;
  };
  // Once in each turn of the loop: what comes in between is what everybody else waits for.
  const look = () => {
    turns.charge(other);
    most = Math.max(most, heard - seen);
    seen = heard;
    if (!isOver) setImmediate(look);
  };
  look();
  await ask("tools/call", { name: "t", arguments: {} }, { logLevel: "info", notify: hear });
  isOver = true;
  expect(heard).toBe(count);
  return most;
}

test("an answer over HTTP with 20 000 notifications makes others wait for a few of them", async () => {
  expect(await mostInOneTurn(true)).toBeLessThan(250);
});

test("control: read as it comes, others wait for a whole chunk of it", async () => {
  expect(await mostInOneTurn(false)).toBeGreaterThan(400);
});
