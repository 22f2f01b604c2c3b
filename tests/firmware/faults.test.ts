// Devices that die, fall silent, come back and are somebody else; the C stubs run as processes of this machine.
import { type DeviceConfig, type DeviceEvent, type OpenLine, socketLine } from "@mcpx/devices";
import { afterAll, beforeAll, expect, test } from "vitest";
import { simulatedConfig, startSimulatedStub } from "../../packages/devices/src/testing/simulated-stub.ts";
import { demoDevice } from "./support/demo-device.ts";
import { type DeviceTree, startDeviceTree } from "./support/device-tree.ts";
import { buildHostStubs, type HostStubs } from "./support/host-stub.ts";

let tree: DeviceTree;
let stubs: HostStubs;

beforeAll(async () => {
  stubs = await buildHostStubs();
  tree = await startDeviceTree();
});

afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await stubs[Symbol.asyncDispose]();
});

const names = (events: readonly DeviceEvent[]) => events.map(({ event }) => event);

test.each(["a", "b"] as const)(
  "[AX-13.2-1] [AX-B-9] a profile %s device that dies is degraded, and comes back by itself",
  async (profile) => {
    const segment = `dies-${profile}`;
    const stub = await stubs.start(profile);
    const config = demoDevice(profile, { segment, heartbeatMs: 200 });
    const { events } = await tree.open(config, socketLine({ path: stub.path }));
    await expect.poll(() => tree.toolsOf(segment)).toHaveLength(3);
    expect(await tree.call(`${segment}.read_sensor`)).toMatchObject({
      structuredContent: { reading: 2_150 },
    });
    await stub.kill();
    await expect.poll(() => names(events)).toContain("silent");
    await expect.poll(() => tree.availability(`${segment}.read_sensor`)).toBe("degraded");
    await expect(tree.call(`${segment}.read_sensor`)).rejects.toMatchObject({
      code: -32002,
      message: expect.stringContaining("tool_degraded"),
      data: { since: expect.any(String), retry_after_ms: expect.any(Number) },
    });
    await stub.start();
    await expect.poll(() => tree.availability(`${segment}.read_sensor`)).not.toBe("degraded");
    expect(await tree.call(`${segment}.read_sensor`)).toMatchObject({
      structuredContent: { reading: 2_150 },
    });
  },
);

test("[AX-B-6] a device that stops in mid-call: what is idempotent is repeated, what is not is indeterminate; no other waits", async () => {
  const [quiet, lively] = [await stubs.start("b"), await stubs.start("b")];
  const impatient = demoDevice("b", { segment: "quiet", heartbeatMs: 60_000 });
  const tools = impatient.tools.map((tool) => ({
    ...tool,
    // Only the release is waited for in vain.
    timeoutMs: tool.name === "release" ? 3_000 : 8_000,
    // As far as its gate is concerned it can be taken back: here the call itself is looked at.
    capability: {
      ...tool.capability,
      reversible: true,
      idempotent: tool.id === 1,
      latency_class: "standard" as const,
    },
  }));
  const { device } = await tree.open({ ...impatient, tools }, socketLine({ path: quiet.path }));
  await tree.open(demoDevice("b", { segment: "lively" }), socketLine({ path: lively.path }));
  await expect.poll(() => tree.toolsOf("quiet")).toHaveLength(3);
  await expect.poll(() => tree.toolsOf("lively")).toHaveLength(3);
  await tree.call("quiet.set_led", { led: 1 });
  // Control: while it runs, the call is answered.
  expect((await tree.call("quiet.release", { amount: 1 })).structuredContent).toEqual({ releases: 1 });
  const { strays } = device.stub.conversation;
  quiet.signal("SIGSTOP");
  const order: string[] = [];
  const stopped = tree.call("quiet.release", { amount: 1 }).finally(() => order.push("quiet"));
  const other = tree.call("lively.read_sensor").finally(() => order.push("lively"));
  expect(await other).toMatchObject({ structuredContent: { led: false } });
  expect(await stopped).toMatchObject({
    isError: true,
    content: [{ text: expect.stringContaining("may or may not have") }],
  });
  expect(order).toEqual(["lively", "quiet"]);
  const read = tree.call("quiet.read_sensor");
  quiet.signal("SIGCONT");
  // It did happen, late; its answer belongs to nothing, and it was done once only.
  expect((await read).structuredContent).toEqual({ reading: 2_150, led: true, releases: 2 });
  expect(device.stub.conversation.strays).toBeGreaterThan(strays);
});

/** `echo` may be repeated, `add` may not. */
function sumDevice(segment: string): DeviceConfig {
  const config = simulatedConfig(segment, { heartbeatMs: 60_000 });
  const tools = config.tools.map((tool) => ({
    ...tool,
    timeoutMs: 25_000,
    capability: { ...tool.capability, idempotent: tool.name === "echo", latency_class: "standard" as const },
  }));
  return { ...config, tools };
}

test("[AX-B-6] a reset in mid-call: what may be repeated is, at once; what may not ends as indeterminate", async () => {
  await using stub = await startSimulatedStub();
  const line = socketLine({ host: "127.0.0.1", port: stub.port });
  const { events } = await tree.open(sumDevice("reset"), line);
  await expect.poll(() => tree.toolsOf("reset")).toEqual(["add", "echo"]);
  const asked = () => stub.heard.length;
  for (const [tool, args, outcome] of [
    ["echo", { text: "again" }, { text: "again" }],
    ["add", { a: 1, b: 2 }, { reason: "indeterminate" }],
  ] as const) {
    stub.isSilent = true;
    const before = asked();
    let isOver = false;
    const call = tree.call(`reset.${tool}`, args).finally(() => {
      isOver = true;
    });
    await expect.poll(asked).toBe(before + 1);
    // Control: it is not over by itself.
    expect(isOver).toBe(false);
    stub.isSilent = false;
    stub.restart();
    expect((await call).structuredContent).toEqual(outcome);
    expect(asked() - before).toBe(tool === "echo" ? 2 : 1);
  }
  expect(names(events).filter((name) => name === "restarted")).toHaveLength(2);
});

/** Two on one line, as on a bus where two have the same number: both hear everything, and both answer. */
function together(lines: readonly OpenLine[]): OpenLine {
  return async (taker) => {
    const open = await Promise.all(lines.map((line) => line(taker)));
    return {
      write: (bytes) => open.map((line) => line.write(bytes)).every(Boolean),
      close: () => {
        for (const line of open) line.close();
      },
    };
  };
}

test("[AX-B-6] two devices with one id on a line: every call is answered once, and rightly", async () => {
  await using first = await startSimulatedStub();
  await using second = await startSimulatedStub();
  const lines = [first, second].map(({ port }) => socketLine({ host: "127.0.0.1", port }));
  const strays: number[] = [];
  for (const [segment, line] of [
    ["alone", lines[0] as OpenLine],
    ["twins", together(lines)],
  ] as const) {
    const { device } = await tree.open(sumDevice(segment), line);
    await expect.poll(() => tree.toolsOf(segment)).toEqual(["add", "echo"]);
    for (let a = 0; a < 10; a += 1) {
      expect((await tree.call(`${segment}.add`, { a, b: 1 })).structuredContent).toEqual({ sum: a + 1 });
    }
    strays.push(device.stub.conversation.strays);
    await device[Symbol.asyncDispose]();
  }
  // Control: there were two answers to each; with one device there are none too many.
  expect(strays[0]).toBe(0);
  expect(strays[1]).toBeGreaterThanOrEqual(9);
});

test("[AX-10.4-1] two devices that want one segment: the second is refused and hurts nobody, and comes when the first has left", async () => {
  const [one, two] = [await stubs.start("b"), await stubs.start("b")];
  const config = demoDevice("b", { segment: "wanted", heartbeatMs: 200 });
  const { device } = await tree.open(config, socketLine({ path: one.path }));
  await expect.poll(() => tree.toolsOf("wanted")).toHaveLength(3);
  await tree.call("wanted.set_led", { led: 1 });
  const second = await tree.open(config, socketLine({ path: two.path }));
  await expect.poll(() => names(second.events)).toContain("refused");
  expect((await tree.call("wanted.read_sensor")).structuredContent).toMatchObject({ led: true });
  expect(names(second.events)).not.toContain("registered");
  await device[Symbol.asyncDispose]();
  await expect.poll(() => names(second.events)).toContain("registered");
  const isDark = async () => (await tree.call("wanted.read_sensor")).structuredContent?.led === false;
  await expect.poll(() => isDark().catch(() => false)).toBe(true);
});

test("[AX-10.4-1] arguments are checked before the device hears of them", async () => {
  const stub = await stubs.start("b");
  await tree.open(demoDevice("b", { segment: "checked" }), socketLine({ path: stub.path }));
  await expect.poll(() => tree.toolsOf("checked")).toHaveLength(3);
  for (const args of [{}, { led: 2 }, { led: "1" }, { led: 0.5 }, { led: 1, more: 1 }, { led: null }]) {
    expect(await tree.call("checked.set_led", args), JSON.stringify(args)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("do not fit") }],
    });
  }
  expect((await tree.call("checked.read_sensor")).structuredContent).toMatchObject({ led: false });
});

test("[AX-8.3-4] a tool that is not configured is not listed; one that the device has otherwise is reported; another device is not listened to", async () => {
  const [few, wrong, other] = [await stubs.start("b"), await stubs.start("b"), await stubs.start("b")];
  const demo = demoDevice("b");
  await tree.open({ ...demo, segment: "few", tools: demo.tools.slice(0, 1) }, socketLine({ path: few.path }));
  await expect.poll(() => tree.toolsOf("few")).toEqual(["read_sensor"]);
  const tools = demo.tools.map((tool) => (tool.id === 2 ? { ...tool, arguments: [] } : tool));
  const { events } = await tree.open({ ...demo, segment: "wrong", tools }, socketLine({ path: wrong.path }));
  await expect.poll(() => tree.toolsOf("wrong")).toEqual(["read_sensor", "release"]);
  expect(events).toContainEqual({ event: "missing_tool", name: "set_led" });
  const known = { ...demo, segment: "known", serial: Buffer.from("demo").toString("hex") };
  const stranger = { ...demo, segment: "stranger", serial: "00112233" };
  await tree.open(known, socketLine({ path: other.path }));
  await expect.poll(() => tree.toolsOf("known")).toHaveLength(3);
  const { path } = await stubs.start("b");
  const strange = await tree.open(stranger, socketLine({ path }));
  const why = "its serial number is 64656d6f, not the configured one";
  await expect.poll(() => strange.events).toContainEqual({ event: "absent", why });
  expect(strange.device.isHere).toBe(false);
  expect(await tree.toolsOf("stranger")).toEqual([]);
});

/** A bad line: of every `rate` pieces in either direction one has a bit flipped, a byte lost or some noise before it. */
interface NoisyLine {
  openLine: OpenLine;
  /** How many pieces were spoiled. */
  count(): number;
  /** Of the next piece that the device sends, a bit in the middle is flipped. */
  flipNextAnswer(): void;
}

function noisyLine(open: OpenLine, rate: number): NoisyLine {
  let state = 20_260_501;
  let count = 0;
  let isNextFlipped = false;
  const chance = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 1;
    return (state >>> 8) % below;
  };
  const spoil = (bytes: Uint8Array): Uint8Array => {
    if (chance(rate) !== 0) return bytes;
    count += 1;
    const at = chance(bytes.length);
    const spoiled = [...bytes];
    const kinds = [
      () => spoiled.splice(at, 1, (bytes[at] as number) ^ (1 << chance(8))),
      () => spoiled.splice(at, 1),
      () => spoiled.unshift(...Array.from({ length: 5 }, () => chance(256))),
    ];
    kinds[chance(kinds.length)]?.();
    return Uint8Array.from(spoiled);
  };
  const hear = (bytes: Uint8Array): Uint8Array => {
    if (!isNextFlipped) return spoil(bytes);
    isNextFlipped = false;
    const middle = bytes.length >> 1;
    return bytes.with(middle, (bytes[middle] as number) ^ 1);
  };
  return {
    count: () => count,
    flipNextAnswer: () => {
      isNextFlipped = true;
    },
    openLine: async (taker) => {
      const line = await open({ ...taker, bytes: (bytes) => taker.bytes(hear(bytes)) });
      return { ...line, write: (bytes) => line.write(spoil(bytes)) };
    },
  };
}

test.each(["a", "b"] as const)(
  "[AX-B-6] [AX-10.4-1] noise on the line of a profile %s device: what comes through is right, or said to be wrong",
  async (profile) => {
    const segment = `noisy-${profile}`;
    const stub = await stubs.start(profile);
    const noise = noisyLine(socketLine({ path: stub.path }), 12);
    const demo = demoDevice(profile, { segment, heartbeatMs: 60_000 });
    const tools = demo.tools.map((tool) => ({ ...tool, timeoutMs: 500 }));
    const { events } = await tree.open({ ...demo, tools }, noise.openLine);
    await expect.poll(() => tree.toolsOf(segment)).toHaveLength(3);
    let right = 0;
    for (let times = 0; times < 60; times += 1) {
      const { isError, structuredContent, content } = await tree.call(`${segment}.read_sensor`);
      if (isError) expect(content[0].text).toMatch(/did not answer|status/);
      else {
        expect(structuredContent).toEqual({ reading: 2_150, led: false, releases: 0 });
        right += 1;
      }
    }
    expect(noise.count()).toBeGreaterThan(5);
    // Reading is idempotent: three attempts seldom all fail.
    expect(right).toBeGreaterThan(50);
    // Control: an altered answer is seen for what it is. Chance may have spoiled only what goes to the device, or nothing
    // but the bytes between two frames.
    const seen = async () => {
      noise.flipNextAnswer();
      await tree.call(`${segment}.read_sensor`);
      return names(events);
    };
    await expect.poll(seen).toContain("dropped");
  },
);
