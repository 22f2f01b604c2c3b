import { expect, test } from "vitest";
import { appendMany, newEntry, topicLogCases } from "./topic-log-cases.ts";
import { createMemoryTopicLog } from "./topic-log-memory.ts";

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

test("what a reader changes stays its own", async () => {
  const log = createMemoryTopicLog();
  await log.append(newEntry());
  const [entry] = await log.read("room", { limit: 1, order: "oldest_first" });
  if (entry !== undefined) entry.text = "changed";
  expect((await log.find("room", "e1"))?.text).toBe('{"id":"e1"}');
});
