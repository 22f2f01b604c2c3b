import { createLogger, type News } from "@mcpx/host";
import { expect, onTestFinished, test } from "vitest";
import { type NewsFeed, openNewsFeed } from "./news.ts";

const log = createLogger({ level: "silent" });

/** Two gateways over a store in memory; `isReached` says whether one reaches the other. */
async function openPair(isReached: boolean) {
  const kept: News[] = [];
  const store = {
    tell: async (kind: string, body: unknown) => kept.push({ seq: kept.length + 1, kind, body }),
    newsAfter: async (seq: number, limit: number) => kept.slice(seq, seq + limit),
    lastNews: async () => kept.length,
  };
  const feeds: NewsFeed[] = [];
  const acted: unknown[][] = [[], []];
  for (const i of [0, 1]) {
    const askAll = async (_verb: string, body: unknown) => {
      const { seq, kind, body: news } = body as News;
      return isReached ? [feeds[1 - i]?.take(seq, kind, news)] : [];
    };
    const feed = await openNewsFeed({ store, neighbours: { askAll }, log, pollMs: 5 });
    feed.on("level", (body) => acted[i]?.push(body));
    feeds.push(feed);
    onTestFinished(feed.close);
  }
  return { feeds: feeds as [NewsFeed, NewsFeed], acted };
}

test("news are acted on at once and once, by all but who tells them", async () => {
  const { feeds, acted } = await openPair(true);
  expect(await feeds[0].tell("level", "a")).toEqual([1]);
  expect(await feeds[1].tell("level", "b")).toEqual([1]);
  expect(await feeds[0].tell("unknown", "c")).toEqual([null]);
  expect(acted).toEqual([["b"], ["a"]]);
  // Known already, from the store or from a peer that says it again.
  await expect.poll(() => feeds[1].take(1, "level", "a")).toBeNull();
  expect(acted).toEqual([["b"], ["a"]]);
});

test("a gateway that could not be told finds the news in the store, in their order", async () => {
  const { feeds, acted } = await openPair(false);
  for (const body of ["a", "b", "c"]) expect(await feeds[0].tell("level", body)).toEqual([]);
  await expect.poll(() => acted[1]).toEqual(["a", "b", "c"]);
  expect(acted[0]).toEqual([]);
});
