import { expect, test } from "vitest";
import { Handshakes } from "./handshakes.ts";

const refused = expect.objectContaining({ code: "too_many_connections" });

/** How many of `count` attempts at one moment are allowed. */
function allowed(attempt: () => void, count: number): number {
  let passed = 0;
  for (let i = 0; i < count; i += 1) {
    try {
      attempt();
      passed += 1;
    } catch (error) {
      expect(error).toEqual(refused);
    }
  }
  return passed;
}

test.each([
  [200, 20],
  [40, 5],
  [3, 3],
])("[X0-9-4] of %i handshakes a second one who asks may use %i, and anybody else as many", (all, share) => {
  const handshakes = new Handshakes(all);
  expect(allowed(() => handshakes.chargeOne("mallory", 0), 500)).toBe(share);
  expect(allowed(() => handshakes.chargeOne("alice", 0), 500)).toBe(share);
  expect(allowed(() => handshakes.chargeOne("mallory", 1_000), 500)).toBe(share);
});

test("[X0-9-4] what one used up of its share is still there for all", () => {
  const handshakes = new Handshakes(200);
  allowed(() => handshakes.chargeOne("mallory", 0), 500);
  expect(allowed(() => handshakes.chargeAll(0), 500)).toBe(200);
  expect(allowed(() => handshakes.chargeAll(500), 500)).toBe(100);
});

test("[X0-9-4] who is refused is told the limit and when to come again", () => {
  const handshakes = new Handshakes(200);
  allowed(() => handshakes.chargeOne("mallory", 0), 20);
  expect(() => handshakes.chargeOne("mallory", 0)).toThrow(
    expect.objectContaining({
      retryAfterMs: 50,
      detail: "the limit is 20 handshakes a second for one participant",
    }),
  );
});

test("[X0-9-4] who asked is forgotten when its bucket is full again, not before", () => {
  const handshakes = new Handshakes(200);
  allowed(() => handshakes.chargeOne("mallory", 0), 20);
  handshakes.sweep(999);
  expect(handshakes.askers).toBe(1);
  expect(allowed(() => handshakes.chargeOne("mallory", 999), 1)).toBe(1);
  handshakes.sweep(1_999);
  expect(handshakes.askers).toBe(0);
});

test("[X0-9-4] a flood of names takes bounded memory", () => {
  const handshakes = new Handshakes(200);
  for (let i = 0; i < 12_000; i += 1) handshakes.chargeOne(`name-${i}`, 0);
  expect(handshakes.askers).toBe(10_000);
});
