import { expect, test } from "vitest";
import { createPeerPaces } from "./peer-paces.ts";

const bounds = { perSecond: 10, burst: 4 };

test("[B-TREE-1] each peer has its burst, then its pace, whatever the others do", () => {
  const paces = createPeerPaces(bounds);
  const askMany = (peer: string, nowMs: number) =>
    Array.from({ length: 10 }, () => paces.retryAfterMs(peer, nowMs)).filter((ms) => ms === undefined).length;
  expect(askMany("flooder", 0)).toBe(4);
  expect(askMany("other", 0)).toBe(4);
  expect(paces.retryAfterMs("flooder", 0)).toBe(100);
  expect(askMany("flooder", 200)).toBe(2);
  expect(askMany("flooder", 60_000)).toBe(4);
  // A clock that goes back gives nothing.
  expect(askMany("flooder", 0)).toBe(0);
});
