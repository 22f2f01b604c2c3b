import { describe, expect, test } from "vitest";
import { appendMany, newEntry, topicLogCases } from "./cases.ts";
import { createMemoryTopicLog } from "./memory.ts";
import type { TopicLog } from "./topic-log.ts";

topicLogCases("the topic log in memory", async () => ({ log: createMemoryTopicLog() }));

test("each log in memory has an epoch of its own, or the one it is given", () => {
  expect(createMemoryTopicLog().epoch).not.toBe(createMemoryTopicLog().epoch);
  expect(createMemoryTopicLog({ epoch: "e" }).epoch).toBe("e");
});

test("[X0-5.3-5] without history only the newest are kept, and duplicates are known among them", async () => {
  const log = createMemoryTopicLog({ retention: { count: 3 } });
  await appendMany(log, 5);
  expect(await log.bounds("room")).toEqual({ first: 3, last: 5 });
  expect(await log.append(newEntry({ id: "e3" }))).toMatchObject({ outcome: "duplicate", seq: 3 });
  expect(await log.append(newEntry({ id: "e2" }))).toMatchObject({ outcome: "appended", seq: 6 });
});

test("[X0-5.3-5] a retention by age counts from the newest entry", async () => {
  const log = createMemoryTopicLog({ retention: { ageMs: 1_500 } });
  await appendMany(log, 5);
  expect(await log.bounds("room")).toEqual({ first: 4, last: 5 });
});

describe("[X0-5.3-5] all topics together stay within a bound of bytes:", () => {
  // With it an entry counts four thousand bytes.
  const text = "x".repeat(1_744);
  const fill = (log: TopicLog, topic: string, count: number) => appendMany(log, count, { topic, text });

  test("the oldest of the largest topic give way, and only as many as must", async () => {
    const log = createMemoryTopicLog({ bytesMax: 20_000 });
    await fill(log, "one", 2);
    await fill(log, "two", 2);
    await log.append(newEntry({ topic: "one", id: "e3", text }));
    expect(await log.bounds("one")).toEqual({ first: 1, last: 3 });
    await log.append(newEntry({ topic: "three", text }));
    expect(await log.bounds("one")).toEqual({ first: 2, last: 3 });
    expect(await log.bounds("two")).toEqual({ first: 1, last: 2 });
    expect(await log.read("one", { limit: 9, order: "oldest_first" })).toMatchObject([
      { id: "e2" },
      { id: "e3" },
    ]);
  });

  test("[X0-4-3] a flood in one topic takes nothing from others: their ids are still known", async () => {
    const log = createMemoryTopicLog({ bytesMax: 40_000 });
    await fill(log, "quiet", 2);
    await fill(log, "calm", 1);
    await fill(log, "flood", 200);
    expect(await log.append(newEntry({ topic: "quiet", id: "e1", text }))).toMatchObject({
      outcome: "duplicate",
    });
    expect(await log.bounds("quiet")).toEqual({ first: 1, last: 2 });
    expect(await log.bounds("calm")).toEqual({ first: 1, last: 1 });
    // The flood has what is left, and no more; and a newcomer finds room at its expense.
    const { first, last } = await log.bounds("flood");
    expect(last - first + 1).toBeLessThan(8);
    await fill(log, "new", 2);
    expect(await log.bounds("new")).toEqual({ first: 1, last: 2 });
    expect(await log.bounds("quiet")).toEqual({ first: 1, last: 2 });
  });

  test("numbers go on in a topic that has lost all, and its ids are free again", async () => {
    const log = createMemoryTopicLog({ bytesMax: 8_000 });
    await fill(log, "one", 2);
    expect(await log.append(newEntry({ topic: "one", id: "e1", text }))).toMatchObject({ seq: 1 });
    await fill(log, "two", 2);
    expect(await log.append(newEntry({ topic: "one", id: "e1", text }))).toMatchObject({
      outcome: "appended",
      seq: 3,
    });
  });

  test("a topic alone loses its own oldest, and what is trimmed makes room for others", async () => {
    const log = createMemoryTopicLog({ bytesMax: 20_000 });
    await fill(log, "one", 9);
    expect(await log.bounds("one")).toEqual({ first: 5, last: 9 });
    await log.trim("one", { count: 2 }, 0);
    await fill(log, "two", 3);
    expect(await log.bounds("one")).toEqual({ first: 8, last: 9 });
    expect(await log.bounds("two")).toEqual({ first: 1, last: 3 });
  });

  test("what is larger than all of it is forgotten at once", async () => {
    const log = createMemoryTopicLog({ bytesMax: 3_999 });
    expect(await log.append(newEntry({ text }))).toMatchObject({ outcome: "appended", seq: 1 });
    expect(await log.bounds("room")).toEqual({ first: 2, last: 1 });
  });
});

test("what a reader changes stays its own", async () => {
  const log = createMemoryTopicLog();
  await log.append(newEntry());
  const [entry] = await log.read("room", { limit: 1, order: "oldest_first" });
  if (entry !== undefined) entry.text = "changed";
  expect((await log.find("room", "e1"))?.text).toBe('{"id":"e1"}');
});
