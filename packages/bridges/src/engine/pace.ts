// How often a channel may be posted to: a bucket of turns that fills with time. Pure: time is given.

export interface Pace {
  readonly perSecond: number;
  readonly burst: number;
  turns: number;
  at: number;
  /** The platform has said that nothing goes before this. */
  notBefore: number;
}

export function createPace({ perSecond, burst }: { perSecond: number; burst: number }, now: number): Pace {
  return { perSecond, burst, turns: burst, at: now, notBefore: now };
}

/** Takes a turn and answers 0, or answers how long to wait before asking again. */
export function takeTurn(pace: Pace, now: number): number {
  if (now < pace.notBefore) return pace.notBefore - now;
  pace.turns = Math.min(pace.burst, pace.turns + ((now - pace.at) / 1_000) * pace.perSecond);
  pace.at = now;
  if (pace.turns < 1) return Math.ceil(((1 - pace.turns) / pace.perSecond) * 1_000);
  pace.turns -= 1;
  return 0;
}

export function holdOff(pace: Pace, now: number, ms: number): void {
  pace.notBefore = Math.max(pace.notBefore, now + ms);
}
