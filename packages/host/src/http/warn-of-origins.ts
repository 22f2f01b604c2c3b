// Pages of other origins that were refused, logged once each: a browser does not tell the page why, and its author looks
// into this log. Bounded, since any page can cause it.
import type { Logger } from "../logging/log.ts";

const originsMax = 20;
const originCharsMax = 200;

export function createOriginWarning(log: Logger): (origin: string) => void {
  const warned = new Set<string>();
  return (given) => {
    const origin = given.slice(0, originCharsMax);
    if (warned.has(origin) || warned.size >= originsMax) return;
    warned.add(origin);
    log.warn(
      { origin },
      "refused a page of another origin; to allow it, add it to listen.origins and restart",
    );
  };
}
