// Somebody sets the clock of an aggregator while subservers in processes of their own are registered with it: leases,
// deadlines and graces go by monotonic time. The controls set that one, and see what would happen.
import { expect, onTestFinished, test } from "vitest";
import { startTestServer } from "../../support/test-server.ts";
import { rawRegistrant, registrationOf, toolOf } from "../../tree/registration/support/raw-registrant.ts";
import type { Place } from "../../tree/support/ask.ts";
import { timeout } from "../support/soak.ts";
import { createSteppedClock, type SteppedClock } from "../support/stepped-clock.ts";
import { type LeafProcess, startLeaves } from "./support/leaf-process.ts";
import { expectDocumented, expectHonest, startTraffic } from "./support/traffic.ts";
import { expectTruth, msUntilDegraded, shown } from "./support/truth.ts";

const dayMs = 86_400_000;
const heartbeatMs = 700;
const tool = "oven.work";

interface Stage {
  clock: SteppedClock;
  place: Place;
  url: string;
  oven: LeafProcess;
  token(segment: string): Promise<string>;
}

async function open(): Promise<Stage> {
  const clock = createSteppedClock();
  const server = await startTestServer({ clock, config: { degraded: { grace: 300_000 } } });
  onTestFinished(() => server.stop());
  // Tokens say when they end, by the clock on the wall: these outlive every step.
  const token = (segment: string) =>
    server.token({ sub: `of:${segment}`, topics: [], segment, scope: "write" }, 100 * dayMs);
  const tokensFor = (segments: readonly string[]) => Promise.all(segments.map(token));
  const oven = await startLeaves({ url: server.url, tokensFor }, ["oven"], { heartbeatMs });
  onTestFinished(() => oven.kill());
  const client = await server.token({ sub: "alice", topics: [], tools: ["**"] }, 100 * dayMs);
  const place = { url: `${server.url}/mcp`, token: client };
  await expectTruth(place, [tool]);
  return { clock, place, url: server.url, oven, token };
}

test("[AX-6.3-1] [AX-13.2-2] the clock steps a day forward and two back: who lives stays, who is lost stays for its grace", {
  timeout,
}, async () => {
  const { clock, place, oven } = await open();
  const traffic = startTraffic(place, [tool]);
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(5);
  for (const days of [1, -2]) {
    clock.stepWall(days * dayMs);
    const steppedAt = performance.now();
    // Longer than the deadline.
    await expect.poll(() => performance.now() - steppedAt).toBeGreaterThan(3.2 * heartbeatMs);
  }
  const outcomes = await traffic.stop();
  expect(outcomes.filter(({ what }) => what !== "ok")).toEqual([]);
  expectHonest(outcomes, oven.effects);
  expect(oven.states.map(({ state }) => state)).toEqual(["registered"]);

  await oven.kill();
  await msUntilDegraded(place, [tool], 0);
  for (const days of [2, -2]) {
    clock.stepWall(days * dayMs);
    // Looked at every fifty milliseconds: three hundred are enough to be found.
    const untilMs = performance.now() + 300;
    while (performance.now() < untilMs) expect(await shown(place)).toEqual({ [tool]: "degraded" });
  }
  await oven.revive();
  await expectTruth(place, [tool]);
});

test("control: it would be lost, and its grace over, if that went by a clock that steps", {
  timeout,
}, async () => {
  const { clock, place, oven } = await open();
  const traffic = startTraffic(place, [tool]);
  clock.stepMonotonic(dayMs);
  await expect.poll(() => oven.states.map(({ state }) => state)).toContain("waiting");
  await expectTruth(place, [tool]);
  expectDocumented(await traffic.stop());
  await oven.kill();
  await msUntilDegraded(place, [tool], 0);
  clock.stepMonotonic(dayMs);
  await expect.poll(() => shown(place)).toEqual({});
});

test("[AX-6.3-1] [AX-13.3-3] a heartbeat that waited for an aggregator longer than the deadline saves nobody", {
  timeout,
}, async () => {
  const { clock, url, token } = await open();
  const come = async (segment: string) => {
    const registrant = await rawRegistrant(url, await token(segment), { parentId: null });
    onTestFinished(() => registrant.cut());
    const { result } = await registrant.register(registrationOf(segment, { heartbeat_interval_ms: 10_000 }));
    const beat = () => registrant.request("mcpax/heartbeat", { session_id: result.session_id });
    return { registrant, beat };
  };
  // Control: one that is late, and not too late, counts.
  const late = await come("late");
  const counted = late.beat();
  clock.stepMonotonic(25_000);
  expect((await counted).result).toEqual({ status: "alive" });
  const tooLate = await come("too-late");
  const answered = tooLate.beat().then(({ result }) => result);
  clock.stepMonotonic(31_000);
  expect(await Promise.race([answered, tooLate.registrant.closed])).toMatchObject({ code: 4500 });
});

test("[AX-13.3-3] once its lease is over a subserver is asked nothing, not even for its list, and is itself again with the next heartbeat", {
  timeout,
}, async () => {
  const { clock, place, url, token } = await open();
  const tools = [toolOf("work")];
  const quiet = await rawRegistrant(url, await token("quiet"), { parentId: null, tools });
  onTestFinished(() => quiet.cut());
  const { result } = await quiet.register(registrationOf("quiet", { heartbeat_interval_ms: 10_000 }));
  const availability = async () => (await shown(place))["quiet.work"];
  await expect.poll(availability).toBe("always");
  const asked = quiet.asked.length;
  clock.stepMonotonic(25_000);
  await expect.poll(availability).toBe("degraded");
  expect(quiet.asked.slice(asked)).toEqual([]);
  const { session_id } = result;
  expect((await quiet.request("mcpax/heartbeat", { session_id })).result).toEqual({ status: "alive" });
  await expect.poll(availability).toBe("always");
  // Control: it is asked again.
  expect(quiet.asked.slice(asked).map(({ method }) => method)).toContain("tools/list");
});
