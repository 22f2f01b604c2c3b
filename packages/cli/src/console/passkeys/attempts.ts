// How often somebody may fail to log in, by address. Those behind one proxy share theirs.
import { addressKey, type Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

export interface Attempts {
  /** Throws `rate_limited` where too many have failed, or are under way. */
  count(address: string): void;
  /** Uncounts an attempt that succeeded. */
  forgive(address: string): void;
}

const attemptsMax = 20;
const withinMs = 60_000;
const addressesMax = 1_000;

export function createAttempts(clock: Pick<Clock, "monotonic">): Attempts {
  const windows = new Map<string, { count: number; endsAt: number }>();
  return {
    count(asking) {
      const address = addressKey(asking);
      const now = clock.monotonic();
      const known = windows.get(address);
      const window = known !== undefined && known.endsAt > now ? known : { count: 0, endsAt: now + withinMs };
      if (window.count >= attemptsMax) {
        throw new McpxError("rate_limited", "too many attempts to log in", {
          retryAfterMs: Math.ceil(window.endsAt - now),
        });
      }
      window.count += 1;
      windows.delete(address);
      windows.set(address, window);
      const [oldest] = windows.keys();
      if (windows.size > addressesMax && oldest !== undefined) windows.delete(oldest);
    },
    forgive(asking) {
      const window = windows.get(addressKey(asking));
      if (window !== undefined) window.count = Math.max(0, window.count - 1);
    },
  };
}
