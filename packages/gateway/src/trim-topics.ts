// Once a minute: what is beyond each topic's retention goes.
import type { Gateway } from "./gateway-state.ts";
import { topicOptions } from "./open-room.ts";

type Trimming = Pick<Gateway, "topics" | "options" | "durableLog" | "clock" | "log">;

export async function trimTopics(gateway: Trimming): Promise<void> {
  for (const topic of gateway.topics) {
    const { retention } = topicOptions(gateway, topic);
    const trimmed = await gateway.durableLog.trim(topic, retention, gateway.clock.now());
    if (trimmed > 0) gateway.log.debug({ topic, trimmed }, "trimmed");
  }
}
