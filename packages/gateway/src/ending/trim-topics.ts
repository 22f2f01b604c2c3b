// Once a minute: what is beyond each topic's retention goes.
import { setImmediate } from "node:timers/promises";
import { topicOptions } from "../joining/open-room.ts";
import type { Gateway } from "../room/gateway-state.ts";

type Trimming = Pick<Gateway, "topics" | "options" | "durableLog" | "clock" | "log" | "isDraining">;

/** So many are looked at in one turn of the event loop: it need not wait for all of them. */
const turnTopics = 100;

export async function trimTopics(gateway: Trimming): Promise<void> {
  let looked = 0;
  for (const topic of gateway.topics) {
    if (looked > 0 && looked % turnTopics === 0) await setImmediate();
    // The log is about to be closed; the next start goes on.
    if (gateway.isDraining) return;
    looked += 1;
    const { retention } = topicOptions(gateway, topic);
    const trimmed = await gateway.durableLog.trim(topic, retention, gateway.clock.now());
    if (trimmed > 0) gateway.log.debug({ topic, trimmed }, "trimmed");
  }
}
