import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { LinkRequest } from "../links/link.ts";
import { inProcessServer, type Script, serverOptions } from "../testing/in-process-server.ts";
import { callerOf, testTree } from "../testing/test-tree.ts";
import type { OpenServer, ServerOptions } from "./server.ts";

const idleMs = 60_000;
const ownMs = 600_000;
const elicitation = { capabilities: { elicitation: {} } };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function child(script: Script, more: Partial<ServerOptions> = {}) {
  const server = inProcessServer({
    tools: [{ name: "t", inputSchema: { type: "object" } }],
    resources: [{ uri: "note://1", name: "one" }],
    ...script,
  });
  const ends: string[] = [];
  const open: OpenServer = async (opening, taker) => {
    const link = await server.open(opening, taker);
    void link.ended.then((why) => ends.push(why));
    return { ...link, pid: 4_194_305 };
  };
  const { tree, ask, clock } = testTree([serverOptions("s", open, { listMs: 1, idleMs, ...more })]);
  const call = (caller = {}) => ask("tools/call", { name: "s.t" }, { caller });
  /** Lets so much time go by, as clocks and timers see it. */
  const pass = async (ms: number) => {
    clock.advance(ms);
    await vi.advanceTimersByTimeAsync(ms);
  };
  return { server, ends, tree, call, pass };
}

test("a child nobody uses is stopped and nobody is told; the next call starts it again", async () => {
  const { server, ends, tree, call, pass } = child({});
  const news: string[] = [];
  await tree.subscribe(callerOf(), { toolsListChanged: true }, (method) => news.push(method));
  await call();
  await pass(idleMs - 1);
  await call();
  await pass(idleMs - 1);
  expect(ends).toEqual([]);
  await pass(1);
  expect(ends).toEqual(["closed"]);
  await call();
  expect(server.openings).toHaveLength(2);
  expect(news).toEqual([]);
});

test("a call that is under way keeps it, and its time begins when that is over", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { ends, call, pass, server } = child(
    {
      async handle({ method }: LinkRequest) {
        if (method === "tools/call") await promise;
        return undefined as never;
      },
    },
    { callMs: 0 },
  );
  const calling = call();
  await pass(0);
  expect(server.asked.at(-1)?.method).toBe("tools/call");
  await pass(idleMs * 10);
  resolve();
  await calling;
  await pass(idleMs - 1);
  expect(ends).toEqual([]);
  await pass(1);
  expect(ends).toEqual(["closed"]);
});

test("a watched resource keeps it for as long as it is watched", async () => {
  const { ends, tree, pass } = child({});
  const wishes = { resourceSubscriptions: ["mcpx://s/note://1"] };
  const watching = await tree.subscribe(callerOf(), wishes, () => {});
  await pass(idleMs * 10);
  expect(ends).toEqual([]);
  watching.close();
  await pass(idleMs);
  expect(ends).toEqual(["closed"]);
});

test("without a time, what callers share is never stopped, and what is one caller's own after ten minutes", async () => {
  const { ends, call, pass, tree } = child({ era: "legacy" }, { idleMs: 0 });
  await call();
  await call(elicitation);
  await pass(ownMs - 1);
  expect(ends).toEqual([]);
  await pass(1);
  expect(ends).toEqual(["closed"]);
  await pass(ownMs * 10);
  expect([...(tree.state.bySegment.get("s")?.links.values() ?? [])]).toMatchObject([{ owner: undefined }]);
});
