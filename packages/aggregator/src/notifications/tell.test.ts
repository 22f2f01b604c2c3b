import { setImmediate as nextTurn } from "node:timers/promises";
import { createTurns } from "@mcpx/host";
import { expect, test } from "vitest";
import type { LinkTaker } from "../links/link.ts";
import type { ServerOptions } from "../servers/server.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";

const hearers = 50;

/** A server that many listen to; telling one of them takes a millisecond. */
async function crowd(more: Partial<ServerOptions>) {
  const turns = createTurns();
  const server = inProcessServer({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
  const { tree, ask } = testTree([serverOptions("s", server.open, more)], { isRealTime: true, turns });
  const told: number[][] = Array.from({ length: hearers }, () => []);
  for (const [index, own] of told.entries()) {
    await tree.subscribe(callerOf({ caller: { key: `k${index}` } }), { unasked: true }, (_, { n }) => {
      const until = performance.now() + 1;
      while (performance.now() < until);
      own.push(n as number);
      return true;
    });
  }
  await ask("tools/list");
  const { notification } = server.takers.at(-1) as LinkTaker;
  const count = () => told.reduce((sum, { length }) => sum + length, 0);
  return { turns, told, count, notification };
}

test("whoever has registered a server pays for telling its hearers: others wait for one of them, not for all", async () => {
  const { turns, told, count, notification } = await crowd({
    origin: { kind: "roomConnection", payer: "mallory" },
  });
  for (const n of [1, 2, 3]) notification("notifications/tick", { n });
  const neighbour = turns.account("neighbour");
  expect(count()).toBeLessThan(3);
  while (turns.turn(neighbour) !== undefined) await nextTurn();
  expect(count()).toBeLessThan(3);
  // All of them hear all of it, in order.
  await expect.poll(count, { interval: 10 }).toBe(3 * hearers);
  expect(new Set(told.map((own) => own.join()))).toEqual(new Set(["1,2,3"]));
});

test("control: what a server of the configuration says is told at once", async () => {
  const { count, notification } = await crowd({});
  notification("notifications/tick", { n: 1 });
  expect(count()).toBe(hearers);
});
