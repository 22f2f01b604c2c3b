// Decisions on a line of time: a lane for each who decided, a bar for how long each waited. Pure.
import type { Decision } from "./decisions.ts";

export interface LaneMark {
  readonly decision: Decision;
  /** From 0 to 1 of the window: since when it waited, as far as that is in the window, and when it was decided. */
  readonly from: number;
  readonly to: number;
}

export interface Lane {
  /** `undefined`: nobody decided. */
  readonly by: string | undefined;
  readonly label: string;
  readonly marks: readonly LaneMark[];
}

export interface Tick {
  readonly at: number;
  readonly part: number;
}

const lanesMax = 8;
const marksMax = 200;

/** Who decided most comes first; what nobody decided, or nobody has decided yet, comes last. */
export function lanesOf(decisions: readonly Decision[], from: number, to: number): Lane[] {
  const byName = Map.groupBy(decisions, ({ by: [name] }) => name);
  const nobody = byName.get(undefined) ?? [];
  byName.delete(undefined);
  const named = [...byName].sort(([, a], [, b]) => b.length - a.length);
  const rest = named.slice(lanesMax - 1);
  const lane = (by: string | undefined, label: string, own: readonly Decision[]): Lane => ({
    by,
    label,
    marks: own.slice(0, marksMax).map((decision) => markOf(decision, from, to)),
  });
  return [
    ...named.slice(0, lanesMax - 1).map(([name = "", own]) => lane(name, name, own)),
    ...(rest.length === 0
      ? []
      : [
          lane(
            undefined,
            `${rest.length} others`,
            rest.flatMap(([, own]) => own),
          ),
        ]),
    ...(nobody.length === 0 ? [] : [lane(undefined, "nobody", nobody)]),
  ];
}

function markOf(decision: Decision, from: number, to: number): LaneMark {
  const part = (at: number) => Math.min(1, Math.max(0, (at - from) / (to - from)));
  return { decision, from: part(decision.askedAt), to: part(decision.decidedAt ?? to) };
}

const steps = [
  60_000, 300_000, 600_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 21_600_000, 43_200_000,
  86_400_000, 172_800_000, 604_800_000,
];

/** Whole minutes, hours or days of the reader's own clock: so many at most. */
export function ticksOf(from: number, to: number, max: number, offsetMs: number): Tick[] {
  const span = Math.max(1, to - from);
  const step = steps.find((ms) => span / ms <= max) ?? Math.ceil(span / max);
  const first = Math.ceil((from + offsetMs) / step) * step - offsetMs;
  const count = Math.max(0, Math.floor((to - first) / step) + 1);
  return Array.from({ length: count }, (_, i) => {
    const at = first + i * step;
    return { at, part: (at - from) / span };
  });
}
