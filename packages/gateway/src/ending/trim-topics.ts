// Once a minute: what is beyond each topic's retention goes, and what is beyond its share of the disk.
import { setImmediate } from "node:timers/promises";
import { topicOptions } from "../joining/open-room.ts";
import type { Gateway } from "../room/gateway-state.ts";

type Trimming = Pick<
  Gateway,
  "topics" | "options" | "limits" | "durableLog" | "clock" | "log" | "isDraining"
>;

/** So many are looked at in one turn of the event loop: it need not wait for all of them. */
const turnTopics = 100;

export async function trimTopics(gateway: Trimming): Promise<void> {
  const { durableLog, limits, clock, log } = gateway;
  const sizes: number[] = [];
  await forEachTopic(gateway, async (topic) => void sizes.push(await durableLog.size(topic)));
  const share = shareOf(sizes, limits.historyBytesMax);
  await forEachTopic(gateway, async (topic) => {
    const { retention } = topicOptions(gateway, topic);
    const bytes = Math.min(retention.bytes ?? Infinity, share);
    const kept = bytes === Infinity ? retention : { ...retention, bytes };
    const trimmed = await durableLog.trim(topic, kept, clock.now());
    if (trimmed > 0) log.debug({ topic, trimmed }, "topic log trimmed");
  });
}

async function forEachTopic(gateway: Trimming, work: (topic: string) => Promise<void>): Promise<void> {
  let looked = 0;
  for (const topic of gateway.topics) {
    if (looked > 0 && looked % turnTopics === 0) await setImmediate();
    // The log is about to be closed; the next start goes on.
    if (gateway.isDraining) return;
    looked += 1;
    await work(topic);
  }
}

/** The bound for each with which all together stay within `total`: a topic that takes less than it loses nothing. */
export function shareOf(sizes: readonly number[], total: number): number {
  let left = total;
  for (const [i, size] of sizes.toSorted((a, b) => a - b).entries()) {
    const share = left / (sizes.length - i);
    if (size > share) return Math.floor(share);
    left -= size;
  }
  return Infinity;
}
