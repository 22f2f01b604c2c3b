// How many calls there were since the tree began, by server and outcome, and how many in each of the
// last sixty minutes. Pure: the time is given. Bounded, whatever is called.
import type { JsonObject } from "@mcpx/protocol";

interface ServerCalls {
  answered: number;
  failed: number;
}

interface Minute extends ServerCalls {
  /** Minutes since 1970. */
  number: number;
  /** Never reached a server. */
  refused: number;
}

export interface CallFigures {
  /** Ms since 1970. */
  readonly since: number;
  /** Of all servers, also of those that are left out below. */
  readonly total: ServerCalls;
  /** By segment, or by name where it is at the root; the one called last stands last. */
  readonly byServer: Map<string, ServerCalls>;
  /** Why calls failed or were refused, by the error's word. */
  readonly reasons: Map<string, number>;
  /** In a ring: each at its number modulo the ring's length. */
  readonly minutes: Minute[];
}

const minuteMs = 60_000;
const minutesKept = 60;
const serversMax = 1_000;
const reasonsMax = 100;
/** What stands for the rest where there are too many words. */
const otherReason = "other";

export function createCallFigures(now: number): CallFigures {
  return {
    since: now,
    total: { answered: 0, failed: 0 },
    byServer: new Map(),
    reasons: new Map(),
    minutes: [],
  };
}

/** A call that was sent to a server; `reason` says why it failed. */
export function noteCall(
  figures: CallFigures,
  server: string,
  now: number,
  reason: string | undefined,
): void {
  const outcome = reason === undefined ? "answered" : "failed";
  figures.total[outcome] += 1;
  serverAt(figures, server)[outcome] += 1;
  minuteAt(figures, now)[outcome] += 1;
  if (reason !== undefined) noteReason(figures, reason);
}

/** A call that was refused and reached no server. */
export function noteRefusal(figures: CallFigures, now: number, reason: string): void {
  minuteAt(figures, now).refused += 1;
  noteReason(figures, reason);
}

/** The minutes oldest first, the last of them under way; those before the beginning are left out. */
export function shownFigures(figures: CallFigures, now: number): JsonObject {
  const last = Math.floor(now / minuteMs);
  const first = Math.max(last - minutesKept + 1, Math.floor(figures.since / minuteMs));
  const minutes = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => {
    const number = first + i;
    const known = figures.minutes[number % minutesKept];
    const { answered, failed, refused } = known?.number === number ? known : emptyMinute(number);
    return { at: new Date(number * minuteMs).toISOString(), answered, failed, refused };
  });
  return {
    since: new Date(figures.since).toISOString(),
    now: new Date(now).toISOString(),
    minutes,
    total: { ...figures.total },
    calls: Object.fromEntries(figures.byServer),
    reasons: Object.fromEntries(figures.reasons),
  };
}

/** Where there are too many, the one that was not called for the longest time goes. */
function serverAt({ byServer }: CallFigures, name: string): ServerCalls {
  const calls = byServer.get(name) ?? { answered: 0, failed: 0 };
  byServer.delete(name);
  const [oldest] = byServer.keys();
  if (byServer.size >= serversMax && oldest !== undefined) byServer.delete(oldest);
  byServer.set(name, calls);
  return calls;
}

function minuteAt({ minutes }: CallFigures, now: number): Minute {
  const number = Math.floor(now / minuteMs);
  const known = minutes[number % minutesKept];
  if (known?.number === number) return known;
  const made = emptyMinute(number);
  minutes[number % minutesKept] = made;
  return made;
}

function emptyMinute(number: number): Minute {
  return { number, answered: 0, failed: 0, refused: 0 };
}

function noteReason({ reasons }: CallFigures, reason: string): void {
  const word = reasons.has(reason) || reasons.size < reasonsMax ? reason : otherReason;
  reasons.set(word, (reasons.get(word) ?? 0) + 1);
}
