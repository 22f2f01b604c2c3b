// Fan-out in a room: ours, durable, beside a plain `ws` loop that keeps nothing, in the same run.
import { benchAcks } from "./acks.ts";
import { benchIdle } from "./idle.ts";
import { benchLargeLog } from "./large-log.ts";
import { closeRoom, latencies, openRoom, percentile, saturate } from "./load.ts";
import { startServerProcess } from "./server-process.ts";

const prefilled = 500_000;
const inFlight = 32;

interface Figures {
  deliveriesPerSecond: number;
  cpuUsPerDelivery: number;
  latency: Record<string, { p50: number; p99: number }>;
}

export async function benchRooms(note: (line: string) => void): Promise<Record<string, unknown>> {
  const results: Record<string, unknown> = {};
  for (const receivers of [20, 100]) {
    note(`rooms: plain ws, ${receivers} receivers`);
    const plain = await measure("./plain-server.ts", [], receivers);
    note(`rooms: ours, ${receivers} receivers`);
    const ours = await measure("./our-server.ts", [receivers + 1, prefilled], receivers);
    results[`fanout${receivers}`] = {
      ours,
      plain,
      ratio: {
        deliveries: round(ours.deliveriesPerSecond / plain.deliveriesPerSecond),
        cpu: round(ours.cpuUsPerDelivery / plain.cpuUsPerDelivery),
      },
      p50_above_plain_ms_at_100: round((ours.latency["100"]?.p50 ?? 0) - (plain.latency["100"]?.p50 ?? 0)),
    };
  }
  note("rooms: acks at 2 000 envelopes a second");
  const { ours, cold, disk, ratio } = await benchAcks();
  results.acks = {
    ...rounded(ours),
    cold: rounded(cold),
    disk: rounded(disk),
    ratio: rounded(ratio),
  };
  note("rooms: 5 000 idle connections");
  results.idle = await benchIdle();
  note("rooms: a log of a million envelopes");
  const { historyPageMs, readyMsAfterKill } = await benchLargeLog();
  results.largeLog = {
    historyPageMs: rounded(historyPageMs),
    readyMsAfterKill: Math.round(readyMsAfterKill),
  };
  return results;
}

function rounded(figures: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, round(value)]));
}

async function measure(file: string, args: readonly number[], receivers: number): Promise<Figures> {
  const server = await startServerProcess(file, args);
  const room = await openRoom(server, receivers);
  await saturate(room, inFlight, 1_500);
  const before = await server.usage();
  const { envelopes, seconds } = await saturate(room, inFlight, 5_000);
  const after = await server.usage();
  const latency: Figures["latency"] = {};
  for (const rate of [100, 500]) {
    const seen = await latencies(room, rate, 3);
    latency[rate] = { p50: round(percentile(seen, 50)), p99: round(percentile(seen, 99)) };
  }
  closeRoom(room);
  await server.stop();
  const deliveries = envelopes * receivers;
  return {
    deliveriesPerSecond: Math.round(deliveries / seconds),
    cpuUsPerDelivery: round((after.cpuUs - before.cpuUs) / deliveries),
    latency,
  };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
