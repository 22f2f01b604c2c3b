import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { PlatformError } from "../platform.ts";
import type { BridgeCore, Channel } from "./bridge-core.ts";
import { createPace } from "./pace.ts";
import { send } from "./send.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function start() {
  const ending = new AbortController();
  const log = { debug() {}, info() {}, warn() {} };
  const core = { options: { name: "team", log }, signal: ending.signal } as unknown as BridgeCore;
  const pace = createPace({ perSecond: 1, burst: 5 }, performance.now());
  const channel = { id: "general", pace, fault: undefined } as unknown as Channel;
  return { core, channel };
}

const hourMs = 3_600_000;

test("[X0-14.4-2] a platform that is down for an hour is asked now and then, and gets the post when it is back", async () => {
  const { core, channel } = start();
  const backAt = performance.now() + hourMs;
  let asked = 0;
  const sent = send(core, channel, async () => {
    asked += 1;
    if (performance.now() < backAt) throw new PlatformError("down", "the platform is down");
    return performance.now();
  });
  await vi.advanceTimersByTimeAsync(hourMs - 1);
  expect(channel.fault).toBe("the platform is down");
  expect(asked).toBeGreaterThan(50);
  expect(asked).toBeLessThan(80);
  await vi.advanceTimersByTimeAsync(60_001);
  expect(await sent).toBeGreaterThanOrEqual(backAt);
  expect(channel.fault).toBeUndefined();
});

test("[X0-14.4-2] a platform that limits everything is asked exactly when it says, and no more than ten minutes later", async () => {
  const { core, channel } = start();
  const askedAt: number[] = [];
  const waits = [2_000, 90_000, 86_400_000];
  const began = performance.now();
  const sent = send(core, channel, async () => {
    askedAt.push(performance.now() - began);
    const retryAfterMs = waits[askedAt.length - 1];
    if (retryAfterMs !== undefined) throw new PlatformError("busy", "too many", { retryAfterMs });
    return "there";
  });
  await vi.advanceTimersByTimeAsync(hourMs);
  expect(await sent).toBe("there");
  expect(askedAt.map(Math.round)).toEqual([0, 2_000, 92_000, 692_000]);
});

test("what a platform refuses for good is left out, and the next one goes", async () => {
  const { core, channel } = start();
  const refuse = async () => {
    throw new PlatformError("refused", "the channel is archived");
  };
  expect(await send(core, channel, refuse)).toBeUndefined();
  expect(channel.fault).toContain("archived");
  expect(await send(core, channel, async () => "there")).toBe("there");
});
