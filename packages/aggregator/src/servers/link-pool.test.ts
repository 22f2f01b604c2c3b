import { expect, test } from "vitest";
import type { LinkRequest } from "../links/link.ts";
import { inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { testTree } from "../testing/test-tree.ts";

/** A server of the legacy era whose calls are answered when the test says so. */
function busyServer() {
  const answers: (() => void)[] = [];
  const calling: LinkRequest[] = [];
  const ends: string[] = [];
  const server = inProcessServer({
    era: "legacy",
    tools: [{ name: "t", inputSchema: { type: "object" } }],
    async handle(request) {
      if (request.method !== "tools/call") return undefined as never;
      calling.push(request);
      await new Promise<void>((resolve) => answers.push(resolve));
      return { content: [] };
    },
  });
  const open: typeof server.open = async (opening, taker) => {
    const link = await server.open(opening, taker);
    void link.ended.then((why) => ends.push(why));
    return link;
  };
  const { ask } = testTree([serverOptions("s", open)]);
  /** In a session of its own, which can be asked things. */
  const call = (id: string, session: number) =>
    ask(
      "tools/call",
      { name: "s.t" },
      {
        principal: { id },
        caller: { era: "legacy", key: `session:${id}:${session}`, capabilities: { elicitation: {} } },
      },
    ).then(
      () => "answered",
      (error: { code?: string; detail?: string }) => `${error.code} ${error.detail}`,
    );
  const answerAll = () => {
    for (const answer of answers.splice(0)) answer();
  };
  const callers = () => calling.map(({ caller }) => caller?.principal.id);
  return { call, callers, answerAll, ends };
}

test("one principal has no more conversations with a server than are left for others", async () => {
  const { call, callers, answerAll } = busyServer();
  const many = Array.from({ length: 40 }, (_, session) => call("greedy", session));
  await expect.poll(() => callers().length).toBe(32);
  const neighbour = call("neighbour", 0);
  await expect.poll(() => callers().at(-1)).toBe("neighbour");
  answerAll();
  expect(await neighbour).toBe("answered");
  const outcomes = await Promise.all(many);
  expect(outcomes.filter((one) => one === "answered")).toHaveLength(32);
  expect(new Set(outcomes.slice(32))).toEqual(
    new Set(["too_many_sessions s is busy with 32 conversations of yours"]),
  );
});

test("whoever has its share gives up its own that nobody uses, and nobody else's", async () => {
  const { call, callers, answerAll, ends } = busyServer();
  const first = call("neighbour", 0);
  await expect.poll(() => callers()).toEqual(["neighbour"]);
  answerAll();
  await first;
  for (let session = 0; session < 40; session += 1) {
    const one = call("greedy", session);
    await expect.poll(() => callers().length, { interval: 1 }).toBe(session + 2);
    answerAll();
    expect(await one).toBe("answered");
  }
  expect(ends.length).toBeGreaterThan(0);
  const closed = ends.length;
  const again = call("neighbour", 0);
  await expect.poll(() => callers().at(-1)).toBe("neighbour");
  answerAll();
  expect(await again).toBe("answered");
  // It has the one it had.
  expect(ends).toHaveLength(closed);
});

test("control: many principals have one each", async () => {
  const { call, callers, answerAll } = busyServer();
  const all = Array.from({ length: 60 }, (_, person) => call(`person-${person}`, 0));
  await expect.poll(() => callers().length).toBe(60);
  answerAll();
  expect(new Set(await Promise.all(all))).toEqual(new Set(["answered"]));
});
