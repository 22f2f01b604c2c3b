import { createManualClock } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { call, contentOf, events, json, type OpenEndpoint, openEndpoint, until } from "./open-endpoint.ts";

const caps = "io.modelcontextprotocol/clientCapabilities";
const meta = { [caps]: { elicitation: {} } };

interface Round {
  inputRequests: Record<string, { method: string; params: JsonObject }>;
  requestState: string;
}

/** Calls a tool and expects questions. */
async function asked(
  endpoint: Pick<OpenEndpoint, "url" | "token">,
  name: string,
  more: JsonObject = {},
): Promise<Round> {
  const { result } = await json(
    await call(endpoint, "tools/call", { name, arguments: { a: 1 }, ...more }, { meta }),
  );
  expect(result).toMatchObject({
    resultType: "input_required",
    requestState: expect.stringMatching(/.{40}/),
  });
  return result as unknown as Round;
}

const answer = (round: Round, content: unknown): JsonObject => ({
  requestState: round.requestState,
  inputResponses: Object.fromEntries(
    Object.keys(round.inputRequests).map((key) => [key, { action: "accept", content }]),
  ),
});

const retry = (endpoint: Pick<OpenEndpoint, "url" | "token">, name: string, more: JsonObject, id = 2) =>
  call(endpoint, "tools/call", { name, arguments: { a: 1 }, ...more }, { meta, id });

const reasonOf = async (response: Response) =>
  ((await json(response)).error as { data?: { reason?: string } }).data?.reason;

test("a question of a working server is an answer to its client, and the retry goes on", async () => {
  const endpoint = await openEndpoint();
  const round = await asked(endpoint, "asks");
  expect(Object.values(round.inputRequests)).toEqual([
    { method: "elicitation/create", params: expect.objectContaining({ message: "your name?" }) },
  ]);
  const done = await json(await retry(endpoint, "asks", answer(round, { answer: "Ada" })));
  expect(JSON.parse(contentOf(done))).toEqual({ name: { action: "accept", content: { answer: "Ada" } } });
  expect(done.id).toBe(2);
  // One call, not two.
  expect(endpoint.tree.exchanges).toHaveLength(1);
});

test("questions that come together are asked together, later ones in the next round", async () => {
  const endpoint = await openEndpoint();
  const first = await asked(endpoint, "asksTwice");
  expect(Object.values(first.inputRequests).map(({ params }) => params.message)).toEqual(["one", "two"]);
  const second = await asked(endpoint, "asksTwice", answer(first, { n: 1 }));
  expect(Object.values(second.inputRequests).map(({ params }) => params.message)).toEqual(["three"]);
  const done = await json(await retry(endpoint, "asksTwice", answer(second, { n: 2 })));
  expect(JSON.parse(contentOf(done)).map(({ content }: { content: { n: number } }) => content.n)).toEqual([
    1, 1, 2,
  ]);
});

test("what is left unanswered is asked again", async () => {
  const endpoint = await openEndpoint();
  const first = await asked(endpoint, "asksTwice");
  const [one] = Object.keys(first.inputRequests);
  const part = { requestState: first.requestState, inputResponses: { [one ?? ""]: { action: "decline" } } };
  const second = await asked(endpoint, "asksTwice", part);
  expect(Object.values(second.inputRequests).map(({ params }) => params.message)).toEqual(["two"]);
});

test("a state is for its principal and its request, and for once", async () => {
  const endpoint = await openEndpoint();
  const bob = { ...endpoint, token: (await endpoint.mint("bob")).token };
  const round = await asked(endpoint, "asks");
  const given = answer(round, {});
  expect(await reasonOf(await retry(bob, "asks", given))).toBe("state_unknown");
  expect(await reasonOf(await retry(endpoint, "asksTwice", given))).toBe("state_unknown");
  expect(await reasonOf(await retry(endpoint, "asks", { ...given, arguments: { a: 2 } }))).toBe(
    "state_unknown",
  );
  const other = { ...given, requestState: `${given.requestState}x` };
  expect(await reasonOf(await retry(endpoint, "asks", other))).toBe("state_unknown");
  const wrong = await json(await retry(endpoint, "asks", { ...given, inputResponses: [] }));
  expect(wrong.error).toMatchObject({ code: -32602 });
  // Another token of the same principal is the same principal.
  const again = { ...endpoint, token: (await endpoint.mint("alice")).token };
  expect((await json(await retry(again, "asks", given))).result).toMatchObject({ resultType: "complete" });
  expect(await reasonOf(await retry(endpoint, "asks", given))).toBe("state_unknown");
});

test("a state of somebody else's making goes through to the tree", async () => {
  const endpoint = await openEndpoint();
  const params = { name: "echo", requestState: "of a server", inputResponses: { a: {} } };
  expect(JSON.parse(contentOf(await json(await call(endpoint, "tools/call", params))))).toEqual(params);
});

test("a client is not asked what it has not declared", async () => {
  const endpoint = await openEndpoint();
  const response = await call(endpoint, "tools/call", { name: "asksModel" }, { meta });
  expect(response.status).toBe(400);
  expect((await json(response)).error).toMatchObject({
    code: -32021,
    data: { requiredCapabilities: { sampling: {} } },
  });
  const able = { [caps]: { sampling: {} } };
  const { result } = await json(await call(endpoint, "tools/call", { name: "asksModel" }, { meta: able }));
  expect(result).toMatchObject({ resultType: "input_required" });
});

test("a call nobody comes back to is cancelled", async () => {
  const clock = createManualClock(Date.now());
  const endpoint = await openEndpoint({ endpoint: { clock }, limits: { mcpParkedMs: 600_000 } });
  const round = await asked(endpoint, "asks");
  expect(endpoint.tree.exchanges[0]?.signal.aborted).toBe(false);
  clock.advance(600_001);
  await until(() => expect(endpoint.tree.exchanges[0]?.signal.aborted).toBe(true));
  expect(await reasonOf(await retry(endpoint, "asks", answer(round, {})))).toBe("state_unknown");
});

test("how many calls wait is bounded, for each principal and for all", async () => {
  const endpoint = await openEndpoint({ limits: { mcpParkedPerPrincipalMax: 1, mcpParkedMax: 2 } });
  const as = async (id: string) => ({ ...endpoint, token: (await endpoint.mint(id)).token });
  const first = await asked(endpoint, "asks");
  expect(await reasonOf(await retry(endpoint, "asks", {}))).toBe("rate_limited");
  await asked(await as("bob"), "asks");
  expect(await reasonOf(await retry(await as("carol"), "asks", {}))).toBe("rate_limited");
  await retry(endpoint, "asks", answer(first, {}));
  await asked(endpoint, "asks");
});

test("a retry that leaves cancels the call", async () => {
  const endpoint = await openEndpoint();
  const round = await asked(endpoint, "asksThenSlow");
  const leaving = new AbortController();
  const params = { name: "asksThenSlow", arguments: { a: 1 }, ...answer(round, {}) };
  call(endpoint, "tools/call", params, { meta, init: { signal: leaving.signal } }).catch(() => {});
  // Taken once, a state is gone: then the retry is on its way.
  await until(async () => {
    const other = { ...params, inputResponses: [] };
    expect(await reasonOf(await call(endpoint, "tools/call", other, { meta }))).toBe("state_unknown");
  });
  expect(endpoint.tree.exchanges[0]?.signal.aborted).toBe(false);
  leaving.abort();
  await until(() => expect(endpoint.tree.exchanges[0]?.signal.aborted).toBe(true));
});

test("subscriptions: first what is granted, then only that, each with the request's id, and a result at the end", async () => {
  const endpoint = await openEndpoint();
  const notifications = { toolsListChanged: true, resourceSubscriptions: ["test://a", "other://b"] };
  const stream = events(await call(endpoint, "subscriptions/listen", { notifications }, { id: "sub-1" }));
  const mark = { "io.modelcontextprotocol/subscriptionId": "sub-1" };
  expect(await stream.message()).toEqual({
    jsonrpc: "2.0",
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { toolsListChanged: true, resourceSubscriptions: ["test://a"] }, _meta: mark },
  });
  endpoint.tree.announce("notifications/prompts/list_changed");
  endpoint.tree.announce("notifications/tools/list_changed");
  endpoint.tree.announce("notifications/resources/updated", { uri: "test://a", _meta: { own: 1 } });
  expect(await stream.message()).toMatchObject({
    method: "notifications/tools/list_changed",
    params: { _meta: mark },
  });
  expect(await stream.message()).toMatchObject({ params: { uri: "test://a", _meta: { own: 1, ...mark } } });
  const drained = endpoint.endpoint.drain();
  expect(await stream.rest()).toEqual([
    {
      jsonrpc: "2.0",
      id: "sub-1",
      result: expect.objectContaining({ resultType: "complete", _meta: expect.objectContaining(mark) }),
    },
  ]);
  await drained;
  expect(endpoint.tree.subscriptions.size).toBe(0);
  expect(await reasonOf(await call(endpoint, "tools/list"))).toBe("draining");
});

test("subscriptions end with their client, are bounded, and must say what they want", async () => {
  const endpoint = await openEndpoint({ limits: { mcpListensPerPrincipalMax: 1 } });
  const wants = { notifications: { toolsListChanged: true } };
  const leaving = new AbortController();
  const first = events(
    await call(endpoint, "subscriptions/listen", wants, { init: { signal: leaving.signal } }),
  );
  await first.message();
  expect(await reasonOf(await call(endpoint, "subscriptions/listen", wants))).toBe("rate_limited");
  leaving.abort();
  await until(() => expect(endpoint.tree.subscriptions.size).toBe(0));
  for (const notifications of [undefined, [], { toolsListChanged: "yes" }, { resourceSubscriptions: [7] }]) {
    const { error } = await json(await call(endpoint, "subscriptions/listen", { notifications }));
    expect(error).toMatchObject({ code: -32602 });
  }
  const nothing = await events(await call(endpoint, "subscriptions/listen", { notifications: {} })).rest();
  expect(nothing).toHaveLength(2);
  expect(endpoint.tree.subscriptions.size).toBe(0);
});
