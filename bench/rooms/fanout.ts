// Fan-out: ours, durable, beside a plain `ws` loop that keeps nothing. Both stand all the time and take turns of a
// second, because a shared machine is fast and slow by the minute: a ratio is one of neighbours.

import { sized } from "../sizes.ts";
import { closeRoom, latencies, openRoom, percentile, type Room, saturate } from "./load.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const prefilled = sized(500_000, 1_000);
const inFlight = 32;
const warmUpMs = sized(1_500, 100);
const turns = sized(7, 1);
const turnMs = sized(1_000, 200);
const latencySeconds = sized(3, 0.2);

interface Side {
  server: ServerProcess;
  room: Room;
  taken: Turn[];
}

interface Turn {
  deliveriesPerSecond: number;
  cpuUsPerDelivery: number;
}

export async function benchFanout(receivers: number) {
  const plain = await open("./plain-server.ts", [], receivers);
  const ours = await open("./our-server.ts", [receivers + 1, prefilled], receivers);
  for (const { room } of [plain, ours]) await saturate(room, inFlight, warmUpMs);
  for (let turn = 0; turn < turns; turn += 1) {
    for (const side of [plain, ours]) side.taken.push(await takeTurn(side));
  }
  const latency = { plain: await latencyOf(plain.room), ours: await latencyOf(ours.room) };
  for (const { room, server } of [plain, ours]) {
    closeRoom(room);
    await server.stop();
  }
  const ratios = (of: keyof Turn) => ours.taken.map((turn, n) => turn[of] / (plain.taken[n] as Turn)[of]);
  return {
    ours: { ...medians(ours.taken), latency: latency.ours },
    plain: { ...medians(plain.taken), latency: latency.plain },
    ratio: { deliveries: spread(ratios("deliveriesPerSecond")), cpu: spread(ratios("cpuUsPerDelivery")) },
    p50_above_plain_ms_at_100: latency.ours[100].p50 - latency.plain[100].p50,
  };
}

async function open(file: string, args: readonly number[], receivers: number): Promise<Side> {
  const server = await startServerProcess(file, args);
  return { server, room: await openRoom(server, receivers), taken: [] };
}

async function takeTurn({ server, room }: Side): Promise<Turn> {
  const before = await server.usage();
  const { envelopes, seconds } = await saturate(room, inFlight, turnMs);
  const after = await server.usage();
  const deliveries = envelopes * room.receivers.length;
  return {
    deliveriesPerSecond: deliveries / seconds,
    cpuUsPerDelivery: (after.cpuUs - before.cpuUs) / deliveries,
  };
}

async function latencyOf(room: Room) {
  const at = async (perSecond: number) => {
    const seen = await latencies(room, perSecond, latencySeconds);
    return { p50: percentile(seen, 50), p99: percentile(seen, 99) };
  };
  return { 100: await at(100), 500: await at(500) };
}

function medians(taken: readonly Turn[]): Turn {
  return {
    deliveriesPerSecond: Math.round(spread(taken.map((turn) => turn.deliveriesPerSecond)).median),
    cpuUsPerDelivery: spread(taken.map((turn) => turn.cpuUsPerDelivery)).median,
  };
}

function spread(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    median: percentile(sorted, 50),
    least: sorted[0] ?? Number.NaN,
    most: sorted.at(-1) ?? Number.NaN,
  };
}
