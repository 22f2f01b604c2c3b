import { expect, test } from "vitest";
import { defaultLimits } from "./limits.ts";

test.each(Object.entries(defaultLimits))("%s has a default one can count with: %i", (_name, value) => {
  expect(Number.isSafeInteger(value)).toBe(true);
  expect(value).toBeGreaterThan(0);
});

test("the defaults are those of the design", () => {
  expect(defaultLimits).toMatchObject({
    envelopeBytesMax: 256 * 1024,
    depthMax: 32,
    toMax: 64,
    idCharsMax: 128,
    connectionsMax: 5_000,
    handshakesPerSecond: 200,
    handshakeMs: 10_000,
    envelopesPerSecondFull: 50,
    envelopesPerSecondRestricted: 10,
    burstFactor: 4,
    proposalsPerMinute: 30,
    faultsPerMinute: 100,
    pingTimeoutMs: 45_000,
    queueBytesMax: 1024 * 1024,
    queueEnvelopesMax: 1_000,
    queueStallMs: 10_000,
    historyPageMax: 1_000,
    historyBytesMax: 8_589_934_592,
    ticketMs: 30_000,
  });
});

test("they fit together", () => {
  const limits = defaultLimits;
  // A lost ping must not end a connection, an envelope must fit the queue, nobody may widen them by accident.
  expect(limits.pingTimeoutMs).toBeGreaterThan(2 * limits.pingIntervalMs);
  expect(limits.queueBytesMax).toBeGreaterThan(limits.envelopeBytesMax);
  expect(limits.envelopesPerSecondRestricted).toBeLessThan(limits.envelopesPerSecondFull);
  expect(Object.isFrozen(limits)).toBe(true);
});
