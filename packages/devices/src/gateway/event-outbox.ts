// Events of one device until the tree can be told of them: in their order, a few while nobody can be told, and no more a
// second than the limit. Pure: the time is given. [AX-12-2] [AX-10.4-1]
import type { JsonObject } from "@mcpx/protocol";

/** What a device says between its boot and its place in the tree. */
const waitingMax = 16;

export interface EventOutbox {
  /** In words what had to be dropped for it, or that it was dropped itself; `undefined` where nothing was. */
  put(notification: JsonObject, nowMs: number): string | undefined;
  /** All that wait, the oldest first; they wait no more. */
  take(): JsonObject[];
}

export function createEventOutbox(perSecond: number): EventOutbox {
  let waiting: JsonObject[] = [];
  let second = { beganMs: Number.NEGATIVE_INFINITY, count: 0 };
  return {
    put: (notification, nowMs) => {
      if (nowMs - second.beganMs >= 1_000) second = { beganMs: nowMs, count: 0 };
      second.count += 1;
      if (second.count > perSecond) return `more than ${perSecond} events in a second`;
      waiting.push(notification);
      if (waiting.length <= waitingMax) return undefined;
      waiting.shift();
      return `more than ${waitingMax} events before the tree could be told`;
    },
    take: () => {
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}
