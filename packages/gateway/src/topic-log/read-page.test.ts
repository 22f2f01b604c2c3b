import { beforeEach, expect, test } from "vitest";
import { createMemoryTopicLog } from "./memory.ts";
import { type PageOptions, readPage } from "./read-page.ts";
import type { TopicLog } from "./topic-log.ts";

const count = 50;
let log: TopicLog;

/** Fifty entries; the text of each is ten bytes. */
beforeEach(async () => {
  log = createMemoryTopicLog();
  for (let i = 1; i <= count; i += 1) {
    await log.append({ topic: "room", id: `e${i}`, from: "a", at: i, digest: "", text: "ü".repeat(5) });
  }
});

async function page(options: Partial<PageOptions>): Promise<{ seqs: number[]; hasMore: boolean }> {
  const { entries, hasMore } = await readPage(log, "room", { limit: 100, bytesMax: 1_000_000, ...options });
  return { seqs: entries.map(({ seq }) => seq), hasMore };
}

/** From `high` down to `low`. */
const down = (high: number, low: number) => Array.from({ length: high - low + 1 }, (_, i) => high - i);

test.each<[Partial<PageOptions>, number[], boolean]>([
  [{}, down(50, 1), false],
  [{ limit: 50 }, down(50, 1), false],
  [{ limit: 49 }, down(50, 2), true],
  [{ limit: 16 }, down(50, 35), true],
  [{ limit: 17, before: 18 }, down(17, 1), false],
  [{ limit: 16, before: 18 }, down(17, 2), true],
  [{ after: 48 }, [50, 49], false],
  [{ after: 40, before: 45, limit: 4 }, down(44, 41), false],
  [{ after: 50 }, [], false],
  [{ before: 1 }, [], false],
])(
  "[X0-5.3-3] %j is the newest within it, and says whether there is more",
  async (options, seqs, hasMore) => {
    expect(await page(options)).toEqual({ seqs, hasMore });
  },
);

test("[X0-5.3-3] a page ends before its bytes are too many, but has at least one entry", async () => {
  expect(await page({ bytesMax: 30 })).toEqual({ seqs: [50, 49, 48], hasMore: true });
  expect(await page({ bytesMax: 39 })).toEqual({ seqs: [50, 49, 48], hasMore: true });
  expect(await page({ bytesMax: 1 })).toEqual({ seqs: [50], hasMore: true });
  expect(await page({ bytesMax: 1, before: 2 })).toEqual({ seqs: [1], hasMore: false });
  expect(await page({ bytesMax: 500 })).toEqual({ seqs: down(50, 1), hasMore: false });
});

test("[X0-5.3-3] walking by the last seq of each page visits everything once", async () => {
  const walked: number[] = [];
  for (let before = count + 1, hasMore = true; hasMore; ) {
    const next = await page({ before, limit: 7, bytesMax: 45 });
    walked.push(...next.seqs);
    before = next.seqs.at(-1) ?? 0;
    hasMore = next.hasMore;
  }
  expect(walked).toEqual(down(50, 1));
});
