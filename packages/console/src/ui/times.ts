// Times and durations as people read them. Pure.

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function clockText(ms: number): string {
  return Number.isFinite(ms) ? clock.format(ms) : "";
}

export function dayText(ms: number): string {
  return Number.isFinite(ms) ? day.format(ms) : "";
}

/** The time where it was today, else the day too. */
export function whenText(ms: number, now: number): string {
  const isToday = new Date(ms).toDateString() === new Date(now).toDateString();
  return isToday ? clockText(ms) : dayText(ms);
}

/** `4:05`, or `2 h 5 min` where it is long. */
export function leftText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1_000));
  if (seconds >= 3_600) return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
