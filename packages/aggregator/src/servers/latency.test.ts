import { latencyClasses } from "@mcpx/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createLatency, figuresOf, observe } from "./latency.ts";

const times = (count: number, ms: number) => Array.from({ length: count }, () => ms);

function after(declared: (typeof latencyClasses)[number], calls: readonly number[]) {
  const latency = createLatency(declared);
  for (const ms of calls) observe(latency, declared, ms);
  return latency.effective;
}

test("[AX-9.2-4] a tool that is slower than it says is shown as what it is", () => {
  expect(after("realtime", times(64, 100))).toBe("realtime");
  expect(after("realtime", times(64, 600))).toBe("fast");
  expect(after("fast", times(64, 40_000))).toBe("slow");
  expect(after("fast", times(64, 500_000))).toBe("batch");
});

test("[AX-9.2-4] a few slow calls are no class, and a class is never lowered below the declared one", () => {
  expect(after("realtime", times(10, 60_000))).toBe("realtime");
  expect(after("realtime", [...times(61, 10), ...times(3, 60_000)])).toBe("realtime");
  expect(after("slow", times(64, 1))).toBe("slow");
});

test("[AX-9.2-4] a tool around a limit does not go up and down with every call", () => {
  expect(after("realtime", [...times(64, 600), ...times(64, 450)])).toBe("fast");
  expect(after("realtime", [...times(64, 600), ...times(64, 200)])).toBe("realtime");
});

test("[AX-9.2-4] whatever the calls take, the class is at least the declared one", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...latencyClasses),
      fc.array(fc.nat(200_000), { maxLength: 200 }),
      (declared, calls) => {
        expect(latencyClasses.indexOf(after(declared, calls))).toBeGreaterThanOrEqual(
          latencyClasses.indexOf(declared),
        );
      },
    ),
  );
});

test("figures of the last calls of several tools together", () => {
  const [a, b] = [createLatency("fast"), createLatency("fast")];
  expect(figuresOf([a, b])).toBeUndefined();
  for (let ms = 1; ms <= 10; ms += 1) observe(a, "fast", ms);
  for (let ms = 11; ms <= 20; ms += 1) observe(b, "fast", ms + 0.04);
  expect(figuresOf([a, b])).toEqual({ calls: 20, p50_ms: 11, p95_ms: 20 });
});
