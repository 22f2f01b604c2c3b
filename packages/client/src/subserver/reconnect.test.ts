import { describe, expect, onTestFinished, test, vi } from "vitest";
import { kitchenV1, kitchenV2 } from "../../testing/kitchens.ts";
import { hello, openAggregator, openSubserver } from "../../testing/open.ts";
import { type Aggregator, refusal } from "../../testing/scripted-aggregator.ts";

const heartbeatMs = 100;
const leaseMs = 6 * heartbeatMs;

const registrations = (aggregator: Aggregator) => aggregator.count("mcpax/register");

async function registeredAgain(aggregator: Aggregator, count = 2): Promise<void> {
  await expect.poll(() => aggregator.visits[count - 1]?.parent).toBeTypeOf("object");
}

/** As far as anybody can tell by the clock; the lease of an aggregator is two seconds where nothing else is said. */
function sleepPastLease(): void {
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 2_001);
  onTestFinished(() => void vi.restoreAllMocks());
}

describe.each(["websocket", "http"] as const)("over %s", (transport) => {
  test("[AX-6.3-3] heartbeats come within the interval, with the session's id, and keep one connection", async () => {
    const aggregator = await openAggregator({ heartbeatMs, leaseMs: 10 * heartbeatMs });
    const subserver = openSubserver(aggregator.url, { transport });
    await subserver.registered;
    const registeredAt = performance.now();
    await expect.poll(() => performance.now() - registeredAt).toBeGreaterThan(11 * heartbeatMs);
    expect(aggregator.count("mcpax/heartbeat")).toBeGreaterThan(1);
    expect(subserver.parentId).toBe(aggregator.id);
    expect((await aggregator.visits[0]?.ask("tools/list"))?.result).toMatchObject({
      tools: [{ name: "bake" }],
    });
    const beat = aggregator.visits[0]?.heard.find(({ method }) => method === "mcpax/heartbeat");
    expect(beat?.params).toEqual({ session_id: "session-0" });
    expect(registrations(aggregator)).toBe(1);
  });

  test("[AX-13.3-3] heartbeats that nobody answers end the connection with the lease", async () => {
    const aggregator = await openAggregator({ heartbeatMs, leaseMs });
    aggregator.script["mcpax/heartbeat"] = (_params, visit, usual) =>
      visit === aggregator.visits[0] ? undefined : usual();
    const lost = Promise.withResolvers<unknown>();
    const onState = (state: string, error: unknown) => {
      if (state === "waiting") lost.resolve(error);
    };
    // The lease counts from before it was asked for.
    const openedAt = performance.now();
    const subserver = openSubserver(aggregator.url, { transport, onState });
    await subserver.registered;
    expect(await lost.promise).toMatchObject({ reason: "timeout" });
    expect(performance.now() - openedAt).toBeGreaterThan(leaseMs - heartbeatMs);
    await registeredAgain(aggregator);
    await expect.poll(() => aggregator.visits[0]?.isOpen).toBe(false);
  });

  test("[AX-6.3-3] a registration that is unknown is made again, at the same place", async () => {
    const aggregator = await openAggregator({ heartbeatMs });
    const backup = await openAggregator();
    const subserver = openSubserver(aggregator.url, { transport, backups: [backup.url] });
    await subserver.registered;
    aggregator.script["mcpax/heartbeat"] = (_params, visit, usual) =>
      visit === aggregator.visits[0] ? refusal("registration_unknown") : usual();
    await registeredAgain(aggregator);
    expect(aggregator.visits[1]?.parent).toEqual({ parent_id: null });
    await expect.poll(() => subserver.state).toBe("registered");
    expect(backup.visits).toHaveLength(0);
  });

  test.each([
    ["1", kitchenV1],
    ["2", kitchenV2],
  ])(
    "[AX-13.3-3] a lost connection comes back with the same instance of SDK v%s",
    async (_version, create) => {
      const aggregator = await openAggregator();
      const kitchen = create();
      const released = Promise.withResolvers<void>();
      kitchen.until = released.promise;
      const subserver = openSubserver(aggregator.url, { transport, server: kitchen.server });
      await subserver.registered;
      const [first] = aggregator.visits;
      await first?.ask("initialize", hello);
      void first?.ask("tools/call", { name: "bake", arguments: {} });
      await expect.poll(() => kitchen.count).toBe(1);
      first?.close();
      await registeredAgain(aggregator);
      const second = aggregator.visits[1];
      // Its lease has not ended.
      expect(second?.parent).toEqual({ parent_id: aggregator.id });
      await second?.ask("initialize", hello);
      released.resolve();
      expect(await second?.ask("tools/call", { name: "bake", arguments: {} })).toMatchObject({
        result: { content: [{ text: "baked" }] },
      });
      // Nobody is told what somebody else has asked.
      expect(second?.heard.filter(({ result }) => JSON.stringify(result)?.includes("baked"))).toHaveLength(1);
    },
  );

  test("[AX-13.3-3] after the lease nothing is served on the old connection any more", async () => {
    const aggregator = await openAggregator({ heartbeatMs, leaseMs });
    const kitchen = kitchenV1();
    const subserver = openSubserver(aggregator.url, { transport, server: kitchen.server });
    await subserver.registered;
    const [first] = aggregator.visits;
    await first?.ask("initialize", hello);
    // As long as it is leased, it is served.
    await first?.ask("tools/call", { name: "bake", arguments: {} });
    expect(kitchen.count).toBe(1);
    // It is spoken to, and its heartbeats are heard, but it does not learn of that.
    aggregator.script["mcpax/heartbeat"] = (_params, visit, usual) => (visit === first ? undefined : usual());
    const ask = setInterval(
      () => first?.isOpen && first.ask("tools/call", { name: "bake", arguments: {} }),
      5,
    );
    await registeredAgain(aggregator);
    const { count } = kitchen;
    await expect.poll(() => first?.isOpen).toBe(false);
    clearInterval(ask);
    expect(kitchen.count).toBe(count);
    await expect.poll(() => subserver.parentId).toBe(aggregator.id);
  });

  test("[AX-13.3-3] what has waited while we were away for longer than the lease is not served", async () => {
    const aggregator = await openAggregator({ heartbeatMs, leaseMs });
    const kitchen = kitchenV1();
    await openSubserver(aggregator.url, { transport, server: kitchen.server }).registered;
    const [first] = aggregator.visits;
    await first?.ask("initialize", hello);
    const away = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    void first?.ask("tools/call", { name: "bake", arguments: {} });
    away(leaseMs / 4);
    await expect.poll(() => kitchen.count).toBe(1);
    void first?.ask("tools/call", { name: "bake", arguments: {} });
    away(leaseMs * 1.2);
    await registeredAgain(aggregator);
    expect(kitchen.count).toBe(1);
  });

  test("[AX-13.3-3] the backup comes after the lease, and is stayed with", async () => {
    const primary = await openAggregator({ heartbeatMs: 250 });
    const backup = await openAggregator({ heartbeatMs: 250, leaseMs: 10_000 });
    const subserver = openSubserver(primary.url, { transport, backups: [backup.url] });
    await subserver.registered;
    const { port } = new URL(primary.url);
    await primary.close();
    const lostAt = performance.now();
    await registeredAgain(backup, 1);
    // The last heartbeat was answered up to an interval before the loss.
    expect(performance.now() - lostAt).toBeGreaterThan(240);
    expect(backup.visits[0]?.parent).toEqual({ parent_id: null });
    await expect.poll(() => subserver.parentId).toBe(backup.id);
    const restarted = await openAggregator({ port: Number(port) });
    await expect.poll(() => backup.count("mcpax/heartbeat")).toBeGreaterThan(4);
    expect(restarted.visits).toHaveLength(0);
    expect(backup.visits).toHaveLength(1);
  });
});

test("[AX-13.3-3] who sleeps past the lease serves nothing on waking, not even before the first timer", async () => {
  const aggregator = await openAggregator();
  const kitchen = kitchenV1();
  await openSubserver(aggregator.url, { server: kitchen.server }).registered;
  const [first] = aggregator.visits;
  await first?.ask("initialize", hello);
  await first?.ask("tools/call", { name: "bake", arguments: {} });
  sleepPastLease();
  void first?.ask("tools/call", { name: "bake", arguments: {} });
  await registeredAgain(aggregator);
  expect(kitchen.count).toBe(1);
  expect(aggregator.visits[1]?.parent).toEqual({ parent_id: null });
});

test("[AX-13.3-3] who sleeps past the lease learns nothing from the answer to an old heartbeat", async () => {
  const aggregator = await openAggregator();
  const late = Promise.withResolvers<void>();
  aggregator.script["mcpax/heartbeat"] = async (_params, _visit, usual) => {
    await late.promise;
    return usual();
  };
  const subserver = openSubserver(aggregator.url);
  await subserver.registered;
  await expect.poll(() => aggregator.count("mcpax/heartbeat")).toBe(1);
  sleepPastLease();
  late.resolve();
  await registeredAgain(aggregator);
  expect(aggregator.visits[1]?.parent).toEqual({ parent_id: null });
});

test("[AX-13.3-3] who sleeps past the lease while it is registered is registered again", async () => {
  const aggregator = await openAggregator();
  const taken = Promise.withResolvers<void>();
  const late = Promise.withResolvers<void>();
  aggregator.script["mcpax/register"] = async (_params, visit, usual) => {
    const answer = await usual();
    if (visit !== aggregator.visits[0]) return answer;
    taken.resolve();
    await late.promise;
    return answer;
  };
  openSubserver(aggregator.url);
  await taken.promise;
  sleepPastLease();
  late.resolve();
  await registeredAgain(aggregator);
  expect(aggregator.visits[1]?.parent).toEqual({ parent_id: null });
});

test("[AX-6.3-2] without heartbeats only the connection counts", async () => {
  const aggregator = await openAggregator();
  const subserver = openSubserver(aggregator.url, { heartbeatMs: 0 });
  expect(await subserver.registered).toMatchObject({ heartbeat_interval_ms: 0, lease_ms: 0 });
  expect(subserver.parentId).toBe(aggregator.id);
  aggregator.visits[0]?.close();
  await registeredAgain(aggregator);
  expect(aggregator.visits[1]?.parent).toEqual({ parent_id: null });
  expect(aggregator.count("mcpax/heartbeat")).toBe(0);
});

test("a factory makes a fresh server for every connection, and the old one is closed", async () => {
  const aggregator = await openAggregator();
  const made: string[] = [];
  const server = () => {
    const { server: fresh } = kitchenV1();
    const name = `server ${made.length}`;
    made.push(name);
    return { connect: fresh.connect.bind(fresh), close: async () => void made.push(`${name} closed`) };
  };
  await openSubserver(aggregator.url, { server }).registered;
  aggregator.visits[0]?.close();
  await registeredAgain(aggregator);
  expect(made).toEqual(["server 0", "server 0 closed", "server 2"]);
});

test("an aggregator that is not there yet is waited for, with one server made", async () => {
  const gone = await openAggregator();
  const { port } = new URL(gone.url);
  await gone.close();
  let count = 0;
  const states: string[] = [];
  const server = () => {
    count += 1;
    return kitchenV1().server;
  };
  const onState = (state: string, error: Error | undefined) => {
    states.push(error === undefined ? state : `${state}: ${(error as Error & { reason: string }).reason}`);
  };
  const subserver = openSubserver(gone.url, { server, onState });
  await expect.poll(() => states.length).toBeGreaterThan(2);
  const aggregator = await openAggregator({ port: Number(port) });
  expect(await subserver.registered).toMatchObject({ aggregator_id: aggregator.id });
  expect(states.slice(0, 3)).toEqual(["waiting: network", "connecting", "waiting: network"]);
  expect(count).toBe(1);
});
