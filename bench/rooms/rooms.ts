// Rooms: fan-out, acknowledgements, idle connections and a large log.

import { sized } from "../sizes.ts";
import { benchAcks } from "./acks.ts";
import { benchFanout } from "./fanout.ts";
import { benchIdle } from "./idle.ts";
import { benchLargeLog } from "./large-log.ts";

export async function benchRooms(note: (line: string) => void): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = {};
  for (const receivers of sized([20, 100], [2])) {
    note(`rooms: ours and plain ws in turns, ${receivers} receivers`);
    results[`fanout${receivers}`] = await benchFanout(receivers);
  }
  note("rooms: acks at 2 000 envelopes a second");
  results.acks = await benchAcks();
  note("rooms: idle connections");
  results.idle = await benchIdle();
  note("rooms: a large log");
  results.largeLog = await benchLargeLog();
  return rounded(results) as Record<string, unknown>;
}

function rounded(value: unknown): unknown {
  if (typeof value === "number") return Math.round(value * 1000) / 1000;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, rounded(each)]));
}
