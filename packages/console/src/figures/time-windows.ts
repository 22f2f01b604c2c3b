// The time ranges in which decisions are shown.
export interface TimeWindow {
  readonly label: string;
  /** In a sentence. */
  readonly text: string;
  /** `undefined`: as far back as anything is known. */
  readonly ms: number | undefined;
}

const hourMs = 3_600_000;

export const lastHour: TimeWindow = { label: "1 h", text: "the last hour", ms: hourMs };

export const timeWindows: readonly TimeWindow[] = [
  lastHour,
  { label: "24 h", text: "the last 24 hours", ms: 24 * hourMs },
  { label: "7 days", text: "the last 7 days", ms: 168 * hourMs },
  { label: "all", text: "everything that is kept", ms: undefined },
];

/** By its label, as an address has it; the last hour where none is named. */
export function windowOf(label: string | undefined): TimeWindow {
  return timeWindows.find((one) => one.label === label) ?? lastHour;
}

/** Since when, for this moment. */
export function windowStart({ ms }: TimeWindow, now: number): number {
  return ms === undefined ? 0 : now - ms;
}
