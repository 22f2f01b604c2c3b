// Durations as people write them: 30s, 15m, 1h, 7d. Pure.

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const durationRule = "a duration such as 30s, 15m, 1h or 7d";

/** Milliseconds, or `undefined` where it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const match = /^([0-9]{1,6})([smhd])$/.exec(text);
  if (match === null) return undefined;
  const ms = Number(match[1]) * unitMs[match[2] as keyof typeof unitMs];
  return ms > 0 ? ms : undefined;
}

/** The largest unit that says it well: `90s`, `59m`, `2h`, `3d`. */
export function formatDuration(ms: number): string {
  for (const unit of ["d", "h", "m"] as const) {
    if (ms >= 2 * unitMs[unit] || (ms >= unitMs[unit] && ms % unitMs[unit] === 0)) {
      return `${Math.floor(ms / unitMs[unit])}${unit}`;
    }
  }
  return `${Math.max(0, Math.round(ms / 1_000))}s`;
}

/** `05:59:54, 4m left`; with the day where that is another one: `2026-11-26 05:54:45, 6d left`. In this machine's time. */
export function endText(endMs: number, nowMs: number): string {
  const end = new Date(endMs);
  const day = dayOf(end) === dayOf(new Date(nowMs)) ? "" : `${dayOf(end)} `;
  return `${day}${end.toTimeString().slice(0, 8)}, ${formatDuration(endMs - nowMs)} left`;
}

function dayOf(date: Date): string {
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()];
  return parts.map((part) => String(part).padStart(2, "0")).join("-");
}
