import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { expect, test } from "vitest";
import { kitchenV1 } from "../../testing/kitchens.ts";
import { hello, openAggregator, openSubserver } from "../../testing/open.ts";

const transport = "http";

test("what a server says arrives in the order it was said in", async () => {
  let count = 0;
  const delayMs = () => {
    count += 1;
    return count % 2 === 0 ? 10 : 0;
  };
  const aggregator = await openAggregator({ delayMs });
  const { server } = kitchenV1();
  await openSubserver(aggregator.url, { transport, server }).registered;
  const [visit] = aggregator.visits;
  await visit?.ask("initialize", hello);
  const numbers = Array.from({ length: 12 }, (_, index) => index);
  const notify = (progress: number) =>
    (server as McpServer).server.notification({
      method: "notifications/progress",
      params: { progressToken: 1, progress },
    });
  await Promise.all(numbers.map(notify));
  const told = visit?.heard.filter(({ method }) => method === "notifications/progress");
  expect(told?.map(({ params }) => (params as { progress: number }).progress)).toEqual(numbers);
});

test("every message after the first names the session, and shows the token", async () => {
  const aggregator = await openAggregator();
  const subserver = openSubserver(aggregator.url, { transport });
  await subserver.registered;
  const [visit] = aggregator.visits;
  expect(visit?.headers).toMatchObject({ accept: "text/event-stream", authorization: "Bearer t0ken" });
  expect(visit?.headers).not.toHaveProperty("mcpax-session");
  expect(visit?.posted).toEqual([{ session: "session-0", authorization: "Bearer t0ken" }]);
});

test("[AX-6.3-3] a session that is not known any more is begun anew, though its stream goes on", async () => {
  const aggregator = await openAggregator();
  const { server } = kitchenV1();
  await openSubserver(aggregator.url, { transport, server }).registered;
  await aggregator.visits[0]?.ask("initialize", hello);
  aggregator.visits[0]?.forget();
  await expect((server as McpServer).server.sendToolListChanged()).rejects.toThrow(/404/);
  // At once, not when the lease is over.
  await expect.poll(() => aggregator.visits[1]?.parent).toEqual({ parent_id: aggregator.id });
  await expect.poll(() => aggregator.visits[0]?.isOpen).toBe(false);
});

test("[AX-13.3-3] a refusal in an HTTP answer counts like any other", async () => {
  const aggregator = await openAggregator({
    status: 409,
    body: { error: { reason: "namespace_conflict", message: "kitchen is taken" } },
  });
  const subserver = openSubserver(aggregator.url, { transport });
  await expect(subserver.registered).rejects.toMatchObject({ reason: "namespace_conflict" });
});

test("a proxy's word is nobody's refusal", async () => {
  const aggregator = await openAggregator({ status: 404 });
  const subserver = openSubserver(aggregator.url, { transport });
  await expect.poll(() => subserver.state).toBe("waiting");
});
