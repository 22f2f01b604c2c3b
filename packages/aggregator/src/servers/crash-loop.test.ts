import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";
import { noteDeath } from "./crash-loop.ts";
import type { OpenServer } from "./server.ts";

/** In this process, and yet a child to the tree. */
function asChild(open: OpenServer): OpenServer {
  return async (opening, taker) => ({ ...(await open(opening, taker)), pid: 4_194_305 });
}

test("the fifth end within a minute counts, and each one that follows is answered by a longer wait", () => {
  const loop = { deaths: [], trips: 0 };
  const ends = [0, 10_000, 20_000, 30_000].map((now) => noteDeath(loop, now, 1_000));
  expect(ends).toEqual([undefined, undefined, undefined, undefined]);
  expect(noteDeath(loop, 40_000, 1_000)).toBe(30_000);
  expect(noteDeath(loop, 80_000, 1_000)).toBe(60_000);
  expect(noteDeath(loop, 150_000, 1_000)).toBe(120_000);
  for (let n = 0; n < 20; n += 1) expect(noteDeath(loop, 1e6 + n, 1_000)).toBeLessThanOrEqual(600_000);
});

test("ends that are far apart, and of those that have lived, are no loop", () => {
  const loop = { deaths: [], trips: 0 };
  for (let n = 0; n < 20; n += 1) expect(noteDeath(loop, n * 15_000, 1_000)).toBeUndefined();
  for (let n = 0; n < 20; n += 1) expect(noteDeath(loop, 1e6 + n, 60_000)).toBeUndefined();
});

test("a child that ends again and again is left alone, and calls meanwhile say why at once", async () => {
  const server = inProcessServer({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
  const { ask, clock } = testTree([serverOptions("s", asChild(server.open))]);
  const call = () => ask("tools/call", { name: "s.t" });
  const crash = async () => {
    await call();
    server.takers.at(-1)?.logLine("Error: no database");
    server.die();
    await Promise.resolve();
  };
  for (let n = 0; n < 5; n += 1) await crash();
  const refused = { code: "subserver_unreachable", retryAfterMs: 30_000 };
  await expect(call()).rejects.toMatchObject(refused);
  await expect(call()).rejects.toThrow("s: it ends again and again, last with it died: Error: no database");
  expect(server.openings).toHaveLength(5);
  clock.advance(30_000);
  await crash();
  await expect(call()).rejects.toMatchObject({ ...refused, retryAfterMs: 60_000 });
  clock.advance(60_000);
  await call();
  clock.advance(60_000);
  await crash();
  // It has lived: the next end is the first one again.
  await call();
});

test("how it ended, and what it said, is in its status while it is well again", async () => {
  const server = inProcessServer({ tools: [{ name: "t", inputSchema: { type: "object" } }] });
  const { ask } = testTree([serverOptions("s", asChild(server.open))]);
  await ask("tools/call", { name: "s.t" });
  server.takers[0]?.logLine("Error: no database");
  server.die();
  await ask("tools/call", { name: "s.t" });
  const { structuredContent } = await ask("tools/call", { name: "mcpax.status" });
  const { servers } = structuredContent as { servers: JsonObject[] };
  expect(servers.find(({ name }) => name === "s")).toMatchObject({
    state: "up",
    last_loss: "it died: Error: no database",
    processes: [{ pid: 4_194_305 }],
  });
});
