// What every topic log must do. Each sibling's test runs this suite.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Appended, NewEntry, Retention, TopicLog } from "./topic-log.ts";

export interface TopicLogPlace {
  log: TopicLog;
  /** Closes the log and opens it again; only of logs that outlive that. */
  reopen?: () => Promise<TopicLog>;
}

export function newEntry(values: Partial<NewEntry> = {}): NewEntry {
  const { id = "e1" } = values;
  const text = `{"id":"${id}"}`;
  return { topic: "room", id, from: "ada", at: 1_000, digest: `digest of ${id}`, text, ...values };
}

/** Appends one after the other `e1`, `e2` and so on, received at 1 000, 2 000 and so on. */
export async function appendMany(
  log: TopicLog,
  count: number,
  values: Partial<NewEntry> = {},
): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  await Promise.all(numbers.map((n) => log.append(newEntry({ id: `e${n}`, at: n * 1_000, ...values }))));
}

const seqsOf = async (log: TopicLog, topic = "room") =>
  (await log.read(topic, { limit: 10_000, order: "oldest_first" })).map(({ seq }) => seq);

export function topicLogCases(name: string, create: () => Promise<TopicLogPlace>): void {
  describe(name, () => {
    let place: TopicLogPlace;
    let log: TopicLog;

    beforeEach(async () => {
      place = await create();
      log = place.log;
    });

    afterEach(() => log.close());

    appendCases(() => log);
    duplicateCases(() => log);
    readCases(() => log);
    trimCases(() => log);
    closeCases(() => log);

    test("[X0-4-3] [B-RESUME-1] any appends, trims and restarts equal a simple model", {
      timeout: 30_000,
    }, async () => {
      let run = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          run += 1;
          const model = createModel(`run${run}/`);
          for (const each of steps) log = await takeStep(each, model, place, log);
          await expectEqual(log, model);
        }),
        { numRuns: 40 },
      );
    });
  });
}

function appendCases(log: () => TopicLog): void {
  test("seqs are dense from 1 in each topic, in the order of the calls", async () => {
    const appended = await Promise.all([
      log().append(newEntry({ id: "a", topic: "one" })),
      log().append(newEntry({ id: "b", topic: "two" })),
      log().append(newEntry({ id: "c", topic: "one" })),
      log().append(newEntry({ id: "d", topic: "one" })),
    ]);
    expect(appended.map((each) => "seq" in each && each.seq)).toEqual([1, 1, 2, 3]);
    const ids = (await log().read("one", { limit: 9, order: "oldest_first" })).map(({ id }) => id);
    expect(ids).toEqual(["a", "c", "d"]);
  });

  test("what was appended is read at once, as it was given", async () => {
    const text = '{"id":"e1","payload":{"n":9007199254740993,"f":1.0,"x":1e400,"s":"\\u0000 ü 🦜 \\ud800"}}';
    await log().append(newEntry({ text }));
    const { digest: _, ...given } = newEntry({ text });
    const entry = { ...given, seq: 1 };
    expect(await log().find("room", "e1")).toEqual(entry);
    expect(await log().read("room", { limit: 9, order: "oldest_first" })).toEqual([entry]);
  });

  test("[X0-4-4] inside a topic time never goes back: an earlier one is raised", async () => {
    await log().append(newEntry({ id: "a", at: 5_000 }));
    expect(await log().append(newEntry({ id: "b", at: 3_000 }))).toEqual({
      outcome: "appended",
      seq: 2,
      at: 5_000,
    });
    expect((await log().find("room", "b"))?.at).toBe(5_000);
    expect(await log().append(newEntry({ id: "c", at: 3_000, topic: "other" }))).toMatchObject({ at: 3_000 });
  });

  test("a topic is listed once it was created or written to, by name", async () => {
    expect(await log().topics()).toEqual([]);
    await log().append(newEntry({ topic: "written" }));
    await log().createTopic("created");
    await log().createTopic("created");
    await log().createTopic("written");
    expect(await log().topics()).toEqual([
      { name: "created", seq: 0 },
      { name: "written", seq: 1 },
    ]);
  });

  test("asking for an unknown topic does not create it", async () => {
    expect(await log().bounds("nowhere")).toEqual({ first: 1, last: 0 });
    expect(await log().read("nowhere", { limit: 9, order: "newest_first" })).toEqual([]);
    expect(await log().find("nowhere", "e1")).toBeUndefined();
    expect(await log().seqBefore("nowhere", 1_000)).toBe(0);
    expect(await log().trim("nowhere", { count: 0 }, 1_000)).toBe(0);
    expect(await log().topics()).toEqual([]);
    log().prepare("nowhere");
    // Behind it, where hints and appends are done in their order.
    await log().append(newEntry({ topic: "somewhere" }));
    expect(await log().topics()).toEqual([{ name: "somewhere", seq: 1 }]);
  });
}

function duplicateCases(log: () => TopicLog): void {
  test("[X0-4-3] a repeated envelope gets the seq and time of the first and is not stored again", async () => {
    await log().append(newEntry({ id: "a", at: 1_000 }));
    await log().append(newEntry({ id: "b", at: 2_000 }));
    const again = await log().append(newEntry({ id: "a", at: 3_000, text: '{"id":"a","ts":"later"}' }));
    expect(again).toEqual({ outcome: "duplicate", seq: 1, at: 1_000 });
    expect(await log().bounds("room")).toEqual({ first: 1, last: 2 });
    expect((await log().find("room", "a"))?.text).toBe('{"id":"a"}');
  });

  test("[X0-4-3] a used id with another body or sender conflicts, and uses no seq", async () => {
    await log().append(newEntry());
    expect(await log().append(newEntry({ digest: "other" }))).toEqual({ outcome: "conflict" });
    expect(await log().append(newEntry({ from: "bob" }))).toEqual({ outcome: "conflict" });
    expect(await log().append(newEntry({ id: "e2" }))).toMatchObject({ outcome: "appended", seq: 2 });
  });

  test("[X0-4-3] envelopes that come at once are compared too", async () => {
    const appended = await Promise.all([
      log().append(newEntry({ at: 2_000 })),
      log().append(newEntry({ at: 1_000 })),
      log().append(newEntry({ from: "bob" })),
      log().append(newEntry({ id: "e2" })),
    ]);
    expect(appended).toEqual([
      { outcome: "appended", seq: 1, at: 2_000 },
      { outcome: "duplicate", seq: 1, at: 2_000 },
      { outcome: "conflict" },
      { outcome: "appended", seq: 2, at: 2_000 },
    ]);
  });

  test("[X0-4-3] an id is free in every other topic", async () => {
    await log().append(newEntry());
    expect(await log().append(newEntry({ topic: "other", from: "bob" }))).toMatchObject({
      outcome: "appended",
    });
  });

  test("[X0-5.3-5] an id is remembered as long as its entry is kept", async () => {
    await appendMany(log(), 3);
    await log().trim("room", { count: 2 }, 3_000);
    expect(await log().append(newEntry({ id: "e2" }))).toMatchObject({ outcome: "duplicate", seq: 2 });
    expect(await log().append(newEntry({ id: "e1" }))).toMatchObject({ outcome: "appended", seq: 4 });
  });
}

function readCases(log: () => TopicLog): void {
  const seqs = async (options: Parameters<TopicLog["read"]>[1]) =>
    (await log().read("room", options)).map(({ seq }) => seq);

  test("[X0-5.3-3] pages are read from either end, between two seqs, up to a limit", async () => {
    await appendMany(log(), 9);
    expect(await seqs({ limit: 3, order: "oldest_first" })).toEqual([1, 2, 3]);
    expect(await seqs({ limit: 3, order: "newest_first" })).toEqual([9, 8, 7]);
    expect(await seqs({ limit: 3, order: "oldest_first", after: 4 })).toEqual([5, 6, 7]);
    expect(await seqs({ limit: 3, order: "newest_first", before: 4 })).toEqual([3, 2, 1]);
    expect(await seqs({ limit: 9, order: "oldest_first", after: 2, before: 5 })).toEqual([3, 4]);
    expect(await seqs({ limit: 9, order: "newest_first", after: 2, before: 5 })).toEqual([4, 3]);
    expect(await seqs({ limit: 9, order: "oldest_first", after: 9 })).toEqual([]);
    expect(await seqs({ limit: 9, order: "oldest_first", after: 5, before: 4 })).toEqual([]);
    expect(await seqs({ limit: 0, order: "oldest_first" })).toEqual([]);
    expect(await seqs({ limit: -1, order: "oldest_first" })).toEqual([]);
  });

  test("[X0-5.3-4] a time is turned into the last seq received before it", async () => {
    for (const [id, at] of Object.entries({ a: 1_000, b: 2_000, c: 2_000, d: 3_000 })) {
      await log().append(newEntry({ id, at }));
    }
    const times = [0, 1_000, 1_001, 2_000, 2_001, 3_000, 9_000];
    const found = await Promise.all(times.map((time) => log().seqBefore("room", time)));
    expect(found).toEqual([0, 0, 1, 1, 3, 3, 4]);
    await log().trim("room", { count: 2 }, 3_000);
    expect(await log().seqBefore("room", 1_000)).toBe(2);
    await log().trim("room", { count: 0 }, 3_000);
    expect(await log().seqBefore("room", 1_000)).toBe(4);
  });
}

function trimCases(log: () => TopicLog): void {
  test("[X0-5.3-5] a trim keeps the newest, and tells how many it removed", async () => {
    await appendMany(log(), 9);
    expect(await log().trim("room", { count: 4 }, 0)).toBe(5);
    expect(await log().bounds("room")).toEqual({ first: 6, last: 9 });
    expect(await seqsOf(log())).toEqual([6, 7, 8, 9]);
    expect(await log().find("room", "e5")).toBeUndefined();
    expect(await log().trim("room", { count: 4 }, 0)).toBe(0);
  });

  test("[X0-5.3-5] a trim removes what is older than an age, and keeps what is just as old", async () => {
    await appendMany(log(), 9);
    expect(await log().trim("room", { ageMs: 5_000 }, 9_000)).toBe(3);
    expect(await seqsOf(log())).toEqual([4, 5, 6, 7, 8, 9]);
  });

  test("[X0-5.3-5] of two bounds the narrower one binds, and none keeps all", async () => {
    await appendMany(log(), 9);
    expect(await log().trim("room", {}, 99_000)).toBe(0);
    expect(await log().trim("room", { count: 8, ageMs: 99_000 }, 9_000)).toBe(1);
    expect(await log().trim("room", { count: 8, ageMs: 2_000 }, 9_000)).toBe(5);
    expect(await seqsOf(log())).toEqual([7, 8, 9]);
  });

  test("[B-FAIR-1] a trim by bytes keeps the newest so many, and at most a mebibyte more", async () => {
    const text = `"${"x".repeat(262_144 - 256 - 2)}"`;
    await appendMany(log(), 30, { text });
    const quarters = async () => Math.round((await log().size("room")) / 262_144);
    expect(await quarters()).toBe(30);
    expect(await log().trim("room", { bytes: 30 * 262_144 }, 0), "control").toBe(0);
    const removed = await log().trim("room", { bytes: 3 * 1_048_576 }, 0);
    expect(removed).toBeGreaterThanOrEqual(14);
    expect(removed).toBeLessThanOrEqual(18);
    expect((await log().bounds("room")).first).toBe(removed + 1);
    expect(Math.abs((await quarters()) - (30 - removed))).toBeLessThanOrEqual(4);
    await appendMany(log(), 4, { topic: "other", text });
    expect(await log().trim("other", { bytes: 3 * 1_048_576 }, 0)).toBe(0);
    await log().trim("room", { count: 0 }, 0);
    expect(await quarters()).toBeLessThanOrEqual(4);
    expect(await log().size("nowhere")).toBe(0);
  });

  test("a trim touches no other topic", async () => {
    await appendMany(log(), 3);
    await appendMany(log(), 3, { topic: "other" });
    await log().trim("room", { count: 0 }, 0);
    expect(await seqsOf(log(), "other")).toEqual([1, 2, 3]);
  });

  test("[B-RESUME-1] seqs and times go on after everything was trimmed", async () => {
    await appendMany(log(), 3);
    expect(await log().trim("room", { count: 0 }, 0)).toBe(3);
    expect(await log().bounds("room")).toEqual({ first: 4, last: 3 });
    expect(await log().topics()).toEqual([{ name: "room", seq: 3 }]);
    expect(await log().append(newEntry({ id: "new", at: 1 }))).toEqual({
      outcome: "appended",
      seq: 4,
      at: 3_000,
    });
    expect(await log().bounds("room")).toEqual({ first: 4, last: 4 });
  });
}

function closeCases(log: () => TopicLog): void {
  test("a close finishes what was begun", async () => {
    const appended = log().append(newEntry());
    const created = log().createTopic("created");
    await log().close();
    expect(await appended).toMatchObject({ outcome: "appended", seq: 1 });
    await created;
  });

  test("a closed log refuses everything, and closes twice", async () => {
    await log().close();
    await log().close();
    await expect(log().append(newEntry())).rejects.toMatchObject({ code: "draining" });
    await expect(log().bounds("room")).rejects.toMatchObject({ code: "draining" });
    await expect(log().trim("room", { count: 0 }, 0)).rejects.toMatchObject({ code: "draining" });
  });
}

// The law: a list per topic, and the simplest thing that can be said of it.

interface ModelTopic {
  kept: { seq: number; at: number; entry: NewEntry }[];
  last: number;
  lastAt: number;
}

interface Model {
  prefix: string;
  topics: Map<string, ModelTopic>;
}

type Step =
  | { do: "append"; entries: NewEntry[] }
  | { do: "trim"; topic: string; retention: Retention; now: number }
  | { do: "prepare"; topic: string }
  | { do: "reopen" };

const topicNames = fc.constantFrom("a", "b");
const entries = fc
  .record({
    topic: topicNames,
    id: fc.constantFrom("1", "2", "3", "4", "5", "6"),
    from: fc.constantFrom("ada", "ada", "bob"),
    digest: fc.constantFrom("x", "x", "y"),
    at: fc.nat(50),
  })
  .map((values) => newEntry(values));
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ do: fc.constant("append"), entries: fc.array(entries, { maxLength: 8 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("trim"),
      topic: topicNames,
      retention: fc.record({ count: fc.nat(6), ageMs: fc.nat(40) }, { requiredKeys: [] }),
      now: fc.nat(80),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("prepare"), topic: topicNames }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("reopen") }) },
);

function createModel(prefix: string): Model {
  return { prefix, topics: new Map() };
}

async function takeStep(step: Step, model: Model, place: TopicLogPlace, log: TopicLog): Promise<TopicLog> {
  if (step.do === "reopen") return place.reopen?.() ?? log;
  if (step.do === "prepare") {
    log.prepare(model.prefix + step.topic);
    return log;
  }
  if (step.do === "trim") {
    const topic = model.prefix + step.topic;
    const removed = trimModel(model, topic, step.retention, step.now);
    expect(await log.trim(topic, step.retention, step.now)).toBe(removed);
    return log;
  }
  const named = step.entries.map((entry) => ({ ...entry, topic: model.prefix + entry.topic }));
  const expected = named.map((entry) => appendToModel(model, entry));
  expect(await Promise.all(named.map((entry) => log.append(entry)))).toEqual(expected);
  return log;
}

function appendToModel(model: Model, entry: NewEntry): Appended {
  const topic = model.topics.get(entry.topic) ?? { kept: [], last: 0, lastAt: 0 };
  model.topics.set(entry.topic, topic);
  const earlier = topic.kept.find((kept) => kept.entry.id === entry.id);
  if (earlier === undefined) {
    topic.last += 1;
    topic.lastAt = Math.max(topic.lastAt, entry.at);
    topic.kept.push({ seq: topic.last, at: topic.lastAt, entry });
    return { outcome: "appended", seq: topic.last, at: topic.lastAt };
  }
  const isSame = earlier.entry.from === entry.from && earlier.entry.digest === entry.digest;
  return isSame ? { outcome: "duplicate", seq: earlier.seq, at: earlier.at } : { outcome: "conflict" };
}

function trimModel(
  model: Model,
  name: string,
  { count = Infinity, ageMs = Infinity }: Retention,
  now: number,
) {
  const topic = model.topics.get(name);
  if (topic === undefined) return 0;
  const before = topic.kept.length;
  topic.kept = topic.kept.filter(({ seq, at }) => seq > topic.last - count && now - at <= ageMs);
  return before - topic.kept.length;
}

async function expectEqual(log: TopicLog, { prefix, topics }: Model): Promise<void> {
  const listed = (await log.topics()).filter((topic) => topic.name.startsWith(prefix));
  expect(listed.map(({ name, seq }) => [name, seq])).toEqual(
    [...topics].map(([name, { last }]) => [name, last]).sort(),
  );
  for (const [name, { kept, last }] of topics) {
    expect(await log.bounds(name)).toEqual({ first: kept[0]?.seq ?? last + 1, last });
    const all = kept.map(({ entry: { digest: _, ...entry }, seq, at }) => ({ ...entry, seq, at }));
    expect(await log.read(name, { limit: 99, order: "oldest_first" })).toEqual(all);
    expect(await log.read(name, { limit: 99, order: "newest_first" })).toEqual(all.toReversed());
    for (let time = 0; time <= 51; time += 3) {
      const found = kept.findLast(({ at }) => at < time)?.seq ?? (kept[0]?.seq ?? last + 1) - 1;
      expect(await log.seqBefore(name, time)).toBe(found);
    }
  }
}
