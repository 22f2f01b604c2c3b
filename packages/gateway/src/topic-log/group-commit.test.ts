import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { newEntry } from "./cases.ts";
import { createGroupCommit } from "./group-commit.ts";
import type { Appended, NewEntry } from "./topic-log.ts";

const stored: Appended = { outcome: "appended", seq: 1, at: 1 };
const ids = (entries: NewEntry[]) => entries.map(({ id }) => id);

test("what one turn brings is one commit, and what comes after it does not wait for it", async () => {
  const batches: string[][] = [];
  const first = Promise.withResolvers<void>();
  const commits = createGroupCommit(async (entries) => {
    batches.push(ids(entries));
    if (batches.length === 1) await first.promise;
    else first.resolve();
    return entries.map(() => stored);
  }, 1_000_000);
  const appended = ["a", "b"].map((id) => commits.append(newEntry({ id })));
  while (batches.length === 0) await setImmediate();
  await commits.append(newEntry({ id: "c" }));
  await Promise.all(appended);
  expect(batches).toEqual([["a", "b"], ["c"]]);
});

test("turns that each bring more share a commit, but not without end", async () => {
  const batches: string[][] = [];
  const commits = createGroupCommit(async (entries) => {
    batches.push(ids(entries));
    return entries.map(() => stored);
  }, 1_000_000);
  const sent = Array.from({ length: 20 }, (_, n) => `id-${n}`);
  for (const id of sent) {
    void commits.append(newEntry({ id }));
    await setImmediate();
  }
  await commits.settle();
  expect(batches.flat()).toEqual(sent);
  expect(batches[0]?.length).toBeGreaterThan(1);
  expect(batches.length).toBeGreaterThan(2);
});

test("it settles when the last commit has", async () => {
  const done: string[] = [];
  const commits = createGroupCommit(async (entries) => {
    await setImmediate();
    return entries.map(() => stored);
  }, 1_000_000);
  for (const id of ["a", "b"]) {
    void commits.append(newEntry({ id })).then(() => done.push(id));
    await setImmediate();
  }
  await commits.settle();
  expect(done).toEqual(["a", "b"]);
});

test("a commit that fails refuses its own entries and no later ones", async () => {
  let isFirst = true;
  const commits = createGroupCommit(async (entries) => {
    if (!isFirst) return entries.map(() => stored);
    isFirst = false;
    throw new Error("no room");
  }, 1_000_000);
  const refused = await Promise.allSettled(["a", "b"].map((id) => commits.append(newEntry({ id }))));
  expect(refused.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await commits.append(newEntry())).toEqual(stored);
});

test("memory is free again after a commit, also after one that failed", async () => {
  let isFailing = false;
  const commits = createGroupCommit(async (entries) => {
    isFailing = !isFailing;
    if (isFailing) throw new Error("no room");
    return entries.map(() => stored);
  }, 3_000);
  const entry = newEntry({ text: "x".repeat(1_000) });
  for (let n = 0; n < 10; n += 1) {
    const [first, second] = await Promise.allSettled([commits.append(entry), commits.append(entry)]);
    expect(first?.status).toBe(n % 2 === 0 ? "rejected" : "fulfilled");
    expect(second).toMatchObject({ status: "rejected", reason: { code: "rate_limited", retryAfterMs: 100 } });
    await commits.settle();
  }
});

test("nothing waits in a new one", async () => {
  await createGroupCommit(async () => [], 1).settle();
});
