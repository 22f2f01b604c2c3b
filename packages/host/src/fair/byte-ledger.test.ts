import { isMcpxError } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createByteLedger, type Hold } from "./byte-ledger.ts";

const limits = { heldBytesMax: 1_000, heldBytesPerPrincipalMax: 300 };
const codeOf = (act: () => unknown) => {
  try {
    act();
    return "held";
  } catch (error) {
    if (isMcpxError(error)) return error.code;
    throw error;
  }
};

test("one principal holds its share and no more; what it gives back it may hold again", () => {
  const ledger = createByteLedger(limits);
  const a = { key: "a" };
  const first = ledger.hold(a, 200);
  expect(codeOf(() => ledger.hold(a, 101))).toBe("rate_limited");
  const second = ledger.hold(a, 100);
  first.release();
  first.release();
  expect(ledger.heldBytes).toBe(100);
  second.resize(300);
  expect(codeOf(() => second.resize(301))).toBe("rate_limited");
  expect(second.bytes).toBe(300);
  second.resize(10);
  expect(ledger.heldBytes).toBe(10);
});

test("however many fill it, somebody new finds room, and an admin more of it", () => {
  const ledger = createByteLedger(limits);
  for (let i = 0; i < 20; i += 1) {
    const grabbed: Hold[] = [];
    // As much as it is given, down to single bytes.
    for (const bytes of [300, 150, 75, 30, 10, 5, 1])
      for (let j = 0; j < 1_000; j += 1)
        codeOf(() => grabbed.push(ledger.hold({ key: `greedy-${i}` }, bytes)));
  }
  expect(ledger.heldBytes).toBeLessThanOrEqual(950);
  expect(codeOf(() => ledger.hold({ key: "admin", isAdmin: true }, 50))).toBe("held");
});

test("a neighbour of one that has all it may have does not notice it", () => {
  const ledger = createByteLedger(limits);
  ledger.hold({ key: "greedy" }, 300);
  expect(codeOf(() => ledger.hold({ key: "greedy" }, 1))).toBe("rate_limited");
  expect(codeOf(() => ledger.hold({ key: "neighbour" }, 300))).toBe("held");
});

test("whatever is held and released, the sum is right and within its bounds", () => {
  const step = fc.tuple(fc.nat(4), fc.nat(400), fc.boolean());
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const ledger = createByteLedger(limits);
      const holds: { key: string; hold: Hold }[] = [];
      for (const [who, bytes, isRelease] of steps) {
        const key = String(who);
        if (isRelease) holds.shift()?.hold.release();
        else codeOf(() => holds.push({ key, hold: ledger.hold({ key }, bytes) }));
        expect(ledger.heldBytes).toBe(holds.reduce((sum, { hold }) => sum + hold.bytes, 0));
        expect(ledger.heldBytes).toBeLessThanOrEqual(limits.heldBytesMax);
        const own = holds.filter((one) => one.key === key).reduce((sum, { hold }) => sum + hold.bytes, 0);
        expect(own).toBeLessThanOrEqual(limits.heldBytesPerPrincipalMax);
      }
    }),
  );
});
