// What is remembered for a short while and given back once. Bounded: the oldest goes first.
import type { Clock } from "@mcpx/host";

export interface SingleUse<T> {
  /** In the place of what was there under the same key. */
  keep(key: string, value: T): void;
  /** `undefined` where it was taken, is too old, or never was. */
  take(key: string): T | undefined;
}

export function createSingleUse<T>(
  clock: Pick<Clock, "monotonic">,
  { lifeMs, countMax }: { lifeMs: number; countMax: number },
): SingleUse<T> {
  const kept = new Map<string, { value: T; endsAt: number }>();
  return {
    keep(key, value) {
      kept.delete(key);
      const [oldest] = kept.keys();
      if (kept.size >= countMax && oldest !== undefined) kept.delete(oldest);
      kept.set(key, { value, endsAt: clock.monotonic() + lifeMs });
    },
    take(key) {
      const found = kept.get(key);
      kept.delete(key);
      return found !== undefined && found.endsAt > clock.monotonic() ? found.value : undefined;
    },
  };
}
