import { expect, test } from "vitest";
import type { Appended, NewEntry } from "./topic-log.ts";
import { newEntry } from "./topic-log-cases.ts";
import { createGroupCommit } from "./topic-log-group-commit.ts";

const stored: Appended = { outcome: "appended", seq: 1, at: 1 };
const ids = (entries: NewEntry[]) => entries.map(({ id }) => id);

test("what one turn brings is one commit, and what comes during a commit is the next", async () => {
  const batches: string[][] = [];
  const commits = createGroupCommit(async (entries) => {
    batches.push(ids(entries));
    if (batches.length === 1) for (const id of ["c", "d", "e"]) void commits.append(newEntry({ id }));
    return entries.map(() => stored);
  }, 1_000_000);
  await Promise.all(["a", "b"].map((id) => commits.append(newEntry({ id }))));
  await commits.settle();
  expect(batches).toEqual([
    ["a", "b"],
    ["c", "d", "e"],
  ]);
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
