// Gates that were told to a tree above before their calls came: kept in memory, each for one call, for as long as the
// gate would wait. After a restart the call gets another gate, and wants a proof of its own. Pure. [AX-11.3-8]
import { canonicalJson } from "@mcpx/protocol";
import type { Promised } from "./gatekeeper.ts";
import type { SameCall } from "./store/gate-store.ts";

const promisedMax = 1_000;

/** The one this call was promised already, else this one. */
export function promise(promised: Map<string, Promised>, fresh: Promised, now: number): Promised {
  const key = keyOf(fresh.wish);
  const known = promised.get(key);
  if (known !== undefined && now < known.expiresAt) return known;
  promised.delete(key);
  const [oldest] = promised.keys();
  if (promised.size >= promisedMax && oldest !== undefined) promised.delete(oldest);
  promised.set(key, fresh);
  return fresh;
}

/** Only one of several racing calls gets the promised gate. */
export function takePromised(
  promised: Map<string, Promised>,
  wish: SameCall,
  now: number,
): Promised | undefined {
  const key = keyOf(wish);
  const known = promised.get(key);
  promised.delete(key);
  return known !== undefined && now < known.expiresAt ? known : undefined;
}

function keyOf({ principal, tool, digest, server }: SameCall): string {
  return canonicalJson([principal, tool, digest, server ?? null]);
}
