// From rounds to figures: medians of rounds, and ratios as medians of each round's ratio, since what disturbs a round
// disturbs both its sides.
import type { Era, Leg } from "./legs.ts";
import type { Round } from "./measure-leg.ts";

export interface Measured {
  leg: Leg;
  /** `undefined` where it sat out. */
  rounds: (Round | undefined)[];
  calls: number;
  /** Of the hop, once it had made 10 000 calls. */
  memory: { rssMb: number; afterCalls: number } | undefined;
  failed: string | undefined;
}

const peers: Record<string, readonly string[]> = {
  hop_http: ["mcp_proxy_http", "mcp_hub_http"],
  hop_stdio: ["mcp_proxy_stdio", "supergateway_stdio", "mcp_hub_stdio"],
};

export function report(
  measured: readonly Measured[],
  skipped: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const results: Record<string, Record<string, unknown>> = {};
  for (const one of measured) {
    const { name, era } = one.leg;
    results[name] = { ...results[name], [era]: figures(one) };
  }
  for (const name of Object.keys(results)) {
    if (name === "direct" || name.startsWith("raw")) continue;
    results[name] = { ...results[name], ...ratios(measured, name) };
  }
  for (const [name, why] of Object.entries(skipped)) results[name] = { ...results[name], skipped: why };
  return results;
}

function figures({ rounds, memory, failed, leg }: Measured): Record<string, unknown> {
  if (failed !== undefined) return { failed };
  const taken = rounds.filter((each) => each !== undefined);
  const of = (key: keyof Round) => round(median(taken.map((each) => each[key])));
  return {
    rounds: taken.length,
    callsPerSecond: Math.round(of("callsPerSecond")),
    cpuUsPerCall: { hop: of("hopCpuUsPerCall"), backend: of("backendCpuUsPerCall") },
    saturated: { p50Ms: of("saturatedP50Ms"), p99Ms: of("saturatedP99Ms") },
    steady: { p50Ms: of("steadyP50Ms"), p99Ms: of("steadyP99Ms") },
    ...(leg.hopPid === undefined ? {} : { memory: memory && { ...memory, rssMb: Math.round(memory.rssMb) } }),
  };
}

/** Of the modern era by plain names, of the legacy era with `legacy_` before them. */
function ratios(measured: readonly Measured[], name: string): Record<string, unknown> {
  const find = (name: string, era: Era) =>
    measured.find(({ leg, failed }) => leg.name === name && leg.era === era && failed === undefined);
  const rivals = measured.filter(
    ({ leg, failed }) => peers[name]?.includes(leg.name) && failed === undefined,
  );
  const best = rivals.sort((a, b) => hopCpu(a) - hopCpu(b))[0];
  const ratio: Record<string, number> = {};
  for (const era of ["modern", "legacy"] as const) {
    const own = find(name, era);
    const raw = find(name.endsWith("stdio") ? "raw_hop_stdio" : "raw_hop", era);
    const prefix = era === "legacy" ? "legacy_" : "";
    if (own === undefined) continue;
    if (raw !== undefined) {
      ratio[`${prefix}cpu_vs_raw`] = paired(own, raw, "hopCpuUsPerCall");
      ratio[`${prefix}calls_vs_raw`] = paired(own, raw, "callsPerSecond");
    }
    if (best !== undefined) ratio[`${prefix}cpu_vs_best_peer`] = paired(own, best, "hopCpuUsPerCall");
  }
  return { ratio, ...(best === undefined ? {} : { bestPeer: `${best.leg.name}, ${best.leg.era}` }) };
}

function hopCpu({ rounds }: Measured): number {
  return median(rounds.flatMap((each) => (each === undefined ? [] : [each.hopCpuUsPerCall])));
}

function paired(own: Measured, other: Measured, key: keyof Round): number {
  const both = own.rounds.flatMap((each, index) => {
    const beside = other.rounds[index];
    return each === undefined || beside === undefined ? [] : [each[key] / beside[key]];
  });
  return round(median(both));
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
