// What the figures mean: each row beside its burners, the goals, and a table to read.
import type { TallyFigures } from "./attacks/tally.ts";
import type { Window } from "./honest.ts";
import type { TurnFigures } from "./turn-meter.ts";

export const goals = { p50Ratio: 3, p99Ratio: 5, rssMaxBytes: 512 * 1_048_576 };

const noisyRatio = 4;

interface Measured {
  name: string;
  quiet: Window;
  /** Just before and just after the attack. */
  burner: Window[];
  attack: Window | undefined;
  tallies: Record<string, TallyFigures>;
  /** Cores that the attackers used. */
  attackCores: number;
  turns: TurnFigures | undefined;
  /** From the attack's end until the others notice nothing any more. */
  recoveryMs: number;
  rssQuietBytes: number;
  rssBytes: number;
  fault: string | undefined;
}

export interface Row extends Measured {
  ratio: { p50: number; p99: number };
  /** The burners before and after differ by more than `noisyRatio`: the machine was busy with something else. */
  isNoisy: boolean;
  /** Goals that were not reached, in words. */
  missed: string[];
}

export function judge(measured: Measured): Row {
  const { attack, burner, rssBytes, fault } = measured;
  const ratio = {
    p50: (attack?.p50Ms ?? Number.POSITIVE_INFINITY) / mean(burner.map(({ p50Ms }) => p50Ms)),
    p99: (attack?.p99Ms ?? Number.POSITIVE_INFINITY) / mean(burner.map(({ p99Ms }) => p99Ms)),
  };
  const missed: string[] = [];
  if (fault !== undefined) missed.push(fault.slice(0, 60));
  if (ratio.p50 > goals.p50Ratio) missed.push(`p50 ${shown(ratio.p50)} × > ${goals.p50Ratio} ×`);
  if (ratio.p99 > goals.p99Ratio) missed.push(`p99 ${shown(ratio.p99)} × > ${goals.p99Ratio} ×`);
  if (rssBytes > goals.rssMaxBytes) missed.push(`RSS ${mebibytes(rssBytes)} MiB > 512 MiB`);
  if (attack !== undefined) {
    if (attack.unacked > 0) missed.push(`${attack.unacked} envelopes never acknowledged`);
    if (attack.expelled.length > 0) missed.push(`expelled: ${attack.expelled.join(", ")}`);
    const failed = Object.entries(attack.joins.failed);
    for (const [why, count] of failed) missed.push(`${count} joins failed: ${why}`);
  }
  const burnerP50s = burner.map(({ p50Ms }) => p50Ms);
  const isNoisy = Math.max(...burnerP50s) > noisyRatio * Math.min(...burnerP50s);
  return { ...measured, ratio, isNoisy, missed };
}

const head = [
  "attack",
  "quiet p50/p99 ms",
  "burner p50/p99",
  "attack p50/p99",
  "×p50",
  "×p99",
  "turn p50/max CPU ms",
  "busy",
  "RSS MiB",
  "join p50/max ms",
  "cores",
  "got through",
  "goals",
];

/** Markdown, so that it can stand in RESULTS.md as it is; `?` marks a row in which the burners disagree. */
export function tableOf(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.name,
    pair(row.quiet.p50Ms, row.quiet.p99Ms),
    pair(mean(row.burner.map(({ p50Ms }) => p50Ms)), mean(row.burner.map(({ p99Ms }) => p99Ms))),
    row.attack === undefined ? "–" : pair(row.attack.p50Ms, row.attack.p99Ms),
    `${shown(row.ratio.p50)}${row.isNoisy ? " ?" : ""}`,
    shown(row.ratio.p99),
    row.turns === undefined ? "–" : pair(row.turns.p50Ms, row.turns.maxMs),
    row.turns === undefined ? "–" : row.turns.cores.toFixed(2),
    mebibytes(row.rssBytes),
    row.attack === undefined ? "–" : pair(row.attack.joins.p50Ms, row.attack.joins.maxMs),
    shown(row.attackCores),
    throughOf(row.tallies),
    row.missed.length === 0 ? "reached" : `**missed**: ${row.missed.join("; ")}`,
  ]);
  return [head, head.map(() => "---"), ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function throughOf(tallies: Record<string, TallyFigures>): string {
  const all = Object.values(tallies);
  if (all.length > 1) return `${all.reduce((sum, { sent }) => sum + sent, 0)} sent by ${all.length} attacks`;
  return all
    .map(({ sent, answers }) => {
      const most = Object.entries(answers).toSorted(([, a], [, b]) => b - a);
      return `${sent} sent; ${most
        .slice(0, 4)
        .map(([what, count]) => `${what}: ${count}`)
        .join(", ")}`;
    })
    .join();
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function pair(a: number, b: number): string {
  return `${shown(a)} / ${shown(b)}`;
}

function shown(value: number): string {
  if (!Number.isFinite(value)) return "∞";
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(2);
}

function mebibytes(bytes: number): string {
  return String(Math.round(bytes / 1_048_576));
}
