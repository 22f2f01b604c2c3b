// Which principal has made which topic, over restarts: a topic takes its maker's place for as long as it is there.
import type { TopicMakerStore } from "../state/room-state.ts";

/** How many of these topics each principal has made. */
export async function countMade(
  store: TopicMakerStore,
  topics: ReadonlySet<string>,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { topic, maker } of await store.makers()) {
    if (topics.has(topic)) counts.set(maker, (counts.get(maker) ?? 0) + 1);
  }
  return counts;
}
