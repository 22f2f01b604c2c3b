import { expect, test } from "vitest";
import { newEntry } from "../cases.ts";
import type { Appended, NewEntry } from "../topic-log.ts";
import { createWriteQueue } from "./write-queue.ts";

const answerOf = ({ at }: NewEntry): Appended => ({ outcome: "appended", seq: at, at });
const batch = (...seqs: number[]) => seqs.map((at) => newEntry({ id: `e${at}`, at }));

/** Each write waits until it is let go. */
function heldWriter() {
  const writes: { entries: readonly NewEntry[]; go: PromiseWithResolvers<void> }[] = [];
  const queue = createWriteQueue(async (entries) => {
    const go = Promise.withResolvers<void>();
    writes.push({ entries, go });
    await go.promise;
    return entries.map(answerOf);
  });
  const seqs = () => writes.map(({ entries }) => entries.map(({ at }) => at));
  return { queue, writes, seqs };
}

test("what comes during a write shares the next, and each batch gets its own answers", async () => {
  const { queue, writes, seqs } = heldWriter();
  const appended = [batch(1, 2), batch(3), batch(4, 5)].map((entries) => queue.append(entries));
  expect(seqs()).toEqual([[1, 2]]);
  writes[0]?.go.resolve();
  expect(await appended[0]).toEqual(batch(1, 2).map(answerOf));
  await expect.poll(seqs).toEqual([
    [1, 2],
    [3, 4, 5],
  ]);
  writes[1]?.go.resolve();
  expect(await Promise.all(appended.slice(1))).toEqual([batch(3), batch(4, 5)].map((b) => b.map(answerOf)));
});

test("a write that fails refuses its own batches and no later ones", async () => {
  const { queue, writes } = heldWriter();
  const first = queue.append(batch(1));
  const second = queue.append(batch(2));
  writes[0]?.go.reject(new Error("no"));
  await expect(first).rejects.toThrow("no");
  await expect.poll(() => writes.length).toBe(2);
  writes[1]?.go.resolve();
  expect(await second).toEqual(batch(2).map(answerOf));
});

test("one write is bounded in entries and in bytes, but takes a batch at least", async () => {
  const { queue, writes, seqs } = heldWriter();
  const text = "x".repeat(4_000_000);
  const large = (at: number) => [newEntry({ id: `e${at}`, at, text })];
  const appended = [batch(1), large(2), large(3), large(4)].map((entries) => queue.append(entries));
  appended.push(queue.append(Array.from({ length: 3_000 }, (_, n) => newEntry({ id: `m${n}`, at: 5 }))));
  for (let n = 0; n < 4; n += 1) {
    await expect.poll(() => writes.length).toBe(n + 1);
    writes[n]?.go.resolve();
  }
  await Promise.all(appended);
  expect(seqs().map((write) => write.length)).toEqual([1, 2, 1, 3_000]);
});
