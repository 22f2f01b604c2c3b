import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { fairNow } from "./fair-now.ts";

test("time in which a process is not let run does not count", () => {
  const before = fairNow();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
  expect(fairNow() - before).toBeLessThan(100);
});

test("control: time it waits counts, and so does time it works", async () => {
  const before = fairNow();
  await sleep(300);
  const waited = fairNow();
  // On a busy machine less, but most of it.
  expect(waited - before).toBeGreaterThan(100);
  const { user, system } = process.cpuUsage();
  while (process.cpuUsage().user + process.cpuUsage().system - user - system < 300_000);
  expect(fairNow() - waited).toBeGreaterThan(290);
});
