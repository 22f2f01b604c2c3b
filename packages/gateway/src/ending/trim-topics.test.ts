import { createLogger, createManualClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { topicOptions } from "../joining/open-room.ts";
import { defaultOptions, type TopicOptions } from "../room/gateway-state.ts";
import { createMemoryTopicLog } from "../topic-log/memory.ts";
import { shareOf, trimTopics } from "./trim-topics.ts";

function gatewayWith(topics: Record<string, Partial<TopicOptions>>, historyBytesMax = 1_000_000) {
  return {
    limits: { ...defaultLimits, historyBytesMax },
    options: { ...defaultOptions, topics },
    durableLog: createMemoryTopicLog(),
    clock: createManualClock(),
    log: createLogger({ level: "silent" }),
    topics: new Set<string>(),
    isDraining: false,
  };
}

/** Five entries, a second apart, the last one now. */
async function fill(gateway: ReturnType<typeof gatewayWith>, topic: string): Promise<void> {
  gateway.topics.add(topic);
  for (let i = 0; i < 5; i += 1) {
    const at = gateway.clock.now() - (4 - i) * 1_000;
    await gateway.durableLog.append({ topic, id: `e${i}`, from: "a", at, digest: "", text: "{}" });
  }
}

test("[X0-5.3-5] each topic keeps what its own retention says, by count and by age", async () => {
  const gateway = gatewayWith({
    few: { retention: { count: 2 } },
    "fresh/*": { retention: { ageMs: 2_500 } },
    none: { retention: { count: 0 } },
  });
  for (const topic of ["few", "fresh/room", "none", "other"]) await fill(gateway, topic);
  await trimTopics(gateway);
  const firsts = await Promise.all(
    ["few", "fresh/room", "none", "other"].map(
      async (topic) => (await gateway.durableLog.bounds(topic)).first,
    ),
  );
  expect(firsts).toEqual([4, 3, 6, 1]);
  gateway.clock.advance(1_000);
  await trimTopics(gateway);
  expect(await gateway.durableLog.bounds("fresh/room")).toEqual({ first: 4, last: 5 });
});

test("[B-FAIR-1] the topic that takes most of the disk gives way; who takes less than a share loses nothing", async () => {
  const gateway = gatewayWith({}, 10_000);
  await fill(gateway, "quiet");
  gateway.topics.add("flooded");
  for (let i = 0; i < 100; i += 1) {
    const entry = {
      topic: "flooded",
      id: `f${i}`,
      from: "mallory",
      at: 0,
      digest: "",
      text: "x".repeat(744),
    };
    await gateway.durableLog.append(entry);
  }
  await trimTopics(gateway);
  expect(await gateway.durableLog.bounds("quiet")).toEqual({ first: 1, last: 5 });
  // 10 000 bytes without the five small ones are eight whole entries and a part of the ninth.
  expect(await gateway.durableLog.bounds("flooded")).toEqual({ first: 92, last: 100 });
  await trimTopics({ ...gateway, limits: { ...gateway.limits, historyBytesMax: 100_000 } });
  expect(await gateway.durableLog.bounds("flooded"), "control").toEqual({ first: 92, last: 100 });
});

test("a share is what is left for each of those who want more", () => {
  expect(shareOf([], 10)).toBe(Infinity);
  expect(shareOf([4, 6], 10)).toBe(Infinity);
  expect(shareOf([4, 7], 10)).toBe(6);
  expect(shareOf([100, 1, 100, 1], 10)).toBe(4);
  expect(shareOf([100, 100, 100], 10)).toBe(3);
});

test("[X0-5.3-5] others have their turn while many topics are looked at", async () => {
  const gateway = gatewayWith({});
  for (let i = 0; i < 1_000; i += 1) gateway.topics.add(`room:${i}`);
  let turns = 0;
  let next: NodeJS.Immediate;
  const takeTurn = () => {
    turns += 1;
    next = setImmediate(takeTurn);
  };
  next = setImmediate(takeTurn);
  await trimTopics(gateway);
  clearImmediate(next);
  // Once for their sizes, once to trim them.
  expect(turns).toBe(18);
});

test("[X0-5.3-5] a gateway that shuts down leaves the rest to the next start", async () => {
  const gateway = gatewayWith({ "**": { retention: { count: 2 } } });
  for (let i = 0; i < 150; i += 1) await fill(gateway, `room:${i}`);
  const trimming = trimTopics(gateway);
  setImmediate(() => {
    gateway.isDraining = true;
    void gateway.durableLog.close();
  });
  await trimming;
  const again = { ...gateway, isDraining: false };
  await expect(trimTopics(again), "control").rejects.toThrow("the log is closed");
});

test("[X0-5.3-5] a topic has the options of its exact name, else of the longest glob, over the defaults", () => {
  const gateway = gatewayWith({
    "**": { history: false },
    "a/*": { retention: { count: 1 } },
    "a/b*": { history: false, retention: { count: 2 } },
    "a/bc": {},
    constructor: { history: false },
  });
  const standard = topicOptions(gatewayWith({}), "any");
  expect(standard).toEqual({ history: true, retention: { count: 100_000 }, toolAccess: "off" });
  expect(topicOptions(gateway, "x")).toEqual({ ...standard, history: false });
  expect(topicOptions(gateway, "a/x")).toEqual({ ...standard, retention: { count: 1 } });
  expect(topicOptions(gateway, "a/bb")).toEqual({ ...standard, history: false, retention: { count: 2 } });
  expect(topicOptions(gateway, "a/bc")).toEqual(standard);
  expect(topicOptions(gatewayWith({}), "constructor")).toEqual(standard);
});
