// How often one address may ask in a minute. What strangers make here is stored, so that it is counted before.
import { addressKey, type Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

const windowMs = 60_000;
const addressesMax = 2_000;

/** Throws `rate_limited` for the request that is too many. Addresses behind one proxy share theirs. */
export function createPerAddress(
  clock: Pick<Clock, "monotonic">,
  perMinute: number,
): (address: string) => void {
  const windows = new Map<string, { count: number; endsAt: number }>();
  return (asking) => {
    const address = addressKey(asking);
    const now = clock.monotonic();
    const known = windows.get(address);
    const window = known !== undefined && known.endsAt > now ? known : { count: 0, endsAt: now + windowMs };
    if (window.count >= perMinute) {
      throw new McpxError("rate_limited", `more than ${perMinute} of these requests in a minute`, {
        retryAfterMs: Math.ceil(window.endsAt - now),
      });
    }
    window.count += 1;
    windows.delete(address);
    windows.set(address, window);
    const [oldest] = windows.keys();
    if (windows.size > addressesMax && oldest !== undefined) windows.delete(oldest);
  };
}
