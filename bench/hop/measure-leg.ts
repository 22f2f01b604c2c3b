// One leg's turn in a round, and what its processes cost meanwhile.

import { sized } from "../sizes.ts";
import { isBackend, type Leg } from "./legs.ts";
import type { Load } from "./load-process.ts";
import { processTree } from "./process-tree.ts";

const inFlight = 32;
/** What a hop costs once its code is compiled: ours and the raw one reach that after some 50 000 calls. */
const warmUpMs = sized(12_000, 200);
const warmUpCalls = 50_000;
const saturateMs = sized(1_000, 300);
const keepRateMs = sized(700, 100);
const perSecond = 250;
export const memoryCalls = sized(10_000, 1);
const memoryMs = 6_000;

export interface Round {
  calls: number;
  callsPerSecond: number;
  hopCpuUsPerCall: number;
  backendCpuUsPerCall: number;
  saturatedP50Ms: number;
  saturatedP99Ms: number;
  /** At a steady 250 calls/s. */
  steadyP50Ms: number;
  steadyP99Ms: number;
}

export async function warmUp({ target }: Leg, load: Load): Promise<number> {
  await load.open(target, inFlight);
  const { calls } = await load.saturate(warmUpMs, warmUpCalls);
  await load.close();
  return calls;
}

export async function measureLeg(leg: Leg, load: Load): Promise<Round> {
  await load.open(leg.target, inFlight);
  const first = await load.saturate(saturateMs, inFlight);
  const before = usage(leg);
  const saturated = await load.saturate(saturateMs);
  const after = usage(leg);
  const steady = await load.keepRate(perSecond, keepRateMs);
  await load.close();
  return {
    calls: first.calls + saturated.calls + steady.calls,
    callsPerSecond: (saturated.calls * 1000) / saturated.ms,
    hopCpuUsPerCall: (after.hopCpuUs - before.hopCpuUs) / saturated.calls,
    backendCpuUsPerCall: (after.backendCpuUs - before.backendCpuUs) / saturated.calls,
    saturatedP50Ms: saturated.p50Ms,
    saturatedP99Ms: saturated.p99Ms,
    steadyP50Ms: steady.p50Ms,
    steadyP99Ms: steady.p99Ms,
  };
}

/** Calls up to the 10 000 after which memory is looked at, or as many of them as can be made in a while. */
export async function topUp({ target }: Leg, load: Load, calls: number): Promise<number> {
  if (calls >= memoryCalls) return 0;
  await load.open(target, inFlight);
  const made = await load.saturate(memoryMs, memoryCalls - calls);
  await load.close();
  return made.calls;
}

export function rssMbOf(leg: Leg): number {
  return usage(leg).hopRssBytes / 2 ** 20;
}

interface Usage {
  hopCpuUs: number;
  hopRssBytes: number;
  backendCpuUs: number;
}

function usage({ hopPid, backendPid }: Leg): Usage {
  const tree = hopPid === undefined ? [] : processTree(hopPid);
  const isHop = (index: number, command: string) => index === 0 || !isBackend(command);
  const total: Usage = { hopCpuUs: 0, hopRssBytes: 0, backendCpuUs: 0 };
  for (const [index, { command, cpuUs, rssBytes }] of tree.entries()) {
    if (isHop(index, command)) {
      total.hopCpuUs += cpuUs;
      total.hopRssBytes += rssBytes;
    } else {
      total.backendCpuUs += cpuUs;
    }
  }
  if (backendPid !== undefined) total.backendCpuUs += processTree(backendPid)[0]?.cpuUs ?? 0;
  return total;
}
