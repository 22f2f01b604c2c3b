// One device on a line in memory, without a tree that would take it: what becomes of its calls and of its line.
import { expect, onTestFinished, test } from "vitest";
import { createCobsReader, frameCobs } from "../framing/cobs.ts";
import { sealed, unsealed } from "../framing/crc.ts";
import type { LineTaker, OpenLine } from "../lines/line.ts";
import { answerPackets, simulatedConfig } from "../testing/simulated-stub.ts";
import { type CborValue, decodeCbor, encodeCbor } from "../wire/cbor.ts";
import { callDevice } from "./call-device.ts";
import type { DeviceConfig, ToolConfig } from "./device-config.ts";
import { type DeviceEvent, type DeviceOptions, openDevice } from "./open-device.ts";

const serial = Buffer.from("sim").toString("hex");
const echoTypes = Uint8Array.of(5, 3);

function announcement(who: string, tools: readonly (readonly [number, Uint8Array])[]): Uint8Array {
  const registration = new Map<number, CborValue>([
    [0, 1],
    [1, Buffer.from(who)],
    [2, 1_024],
    [4, new Map(tools)],
  ]);
  const message = new Map<number, CborValue>([
    [1, -1],
    [3, registration],
  ]);
  return frameCobs(sealed(encodeCbor(message)));
}

function methodOf(packet: Uint8Array): unknown {
  return (decodeCbor(unsealed(packet) as Uint8Array) as Map<number, unknown>).get(1);
}

/** A simulated stub; `more` may change the line that leads to it. */
function startDevice(
  config: Partial<DeviceConfig> = {},
  more: (open: OpenLine, opened: number) => OpenLine = (open) => open,
  limits?: DeviceOptions["limits"],
  inTurn?: DeviceOptions["inTurn"],
) {
  const rig = { isSilent: false, opens: 0, methods: [] as unknown[], say: (_bytes: Uint8Array) => {} };
  let taker: LineTaker | undefined;
  const answer = answerPackets();
  const openStub: OpenLine = async (given) => {
    taker = given;
    const frame = (packet: Uint8Array) => {
      rig.methods.push(methodOf(packet));
      const said = rig.isSilent ? undefined : answer(packet);
      if (said !== undefined) setImmediate(() => given.bytes(frameCobs(said)));
    };
    const read = createCobsReader({ dropped: () => {}, frame });
    return {
      write: (bytes) => {
        read(bytes);
        return true;
      },
      close: () => {},
    };
  };
  const events: DeviceEvent[] = [];
  const device = openDevice({
    config: simulatedConfig("lamp", { heartbeatMs: 100, ...config }),
    openLine: (given) => {
      rig.opens += 1;
      return more(openStub, rig.opens)(given);
    },
    limits,
    inTurn,
    // Nobody is there: what happens below does not need a tree.
    url: "ws://127.0.0.1:9/ax",
    registration: { subserverId: "00000000-0000-4000-8000-000000000000", token: "x" },
    onEvent: (event) => events.push(event),
  });
  onTestFinished(() => device[Symbol.asyncDispose]());
  return Object.assign(rig, {
    device,
    events,
    say: (bytes: Uint8Array) => taker?.bytes(bytes),
    end: (why: string) => taker?.ended(why),
    names: () => events.map(({ event }) => event),
  });
}

const patient = (tool: ToolConfig): ToolConfig => ({ ...tool, timeoutMs: 60_000 });
const [add, echo] = simulatedConfig("lamp").tools.map(patient) as [ToolConfig, ToolConfig];
const calls = (methods: readonly unknown[]) => methods.filter((method) => Number(method) > 0);

test("[AX-8.3-4] another device on the line is not listened to, and gets no call: neither the open one nor those that wait", async () => {
  const rig = startDevice({ serial, tools: [add, echo] });
  const { device } = rig;
  await expect.poll(() => device.isHere).toBe(true);
  for (const who of ["sim", "stranger"]) {
    rig.methods.length = 0;
    rig.isSilent = true;
    const open = callDevice(device.stub, echo, { text: "x" }, undefined);
    const waiting = callDevice(device.stub, add, { a: 1, b: 2 }, undefined);
    await expect.poll(() => calls(rig.methods)).toEqual([echo.id]);
    const isOther = who === "stranger";
    rig.isSilent = isOther;
    rig.say(
      announcement(who, [
        [1, Uint8Array.of(5, 0, 0)],
        [2, echoTypes],
      ]),
    );
    expect(device.isHere).toBe(!isOther);
    const reasons = [await open, await waiting].map(({ structuredContent }) => structuredContent);
    // Control: the device itself has only restarted, and what may be repeated is.
    expect(reasons).toEqual(
      isOther ? [{ reason: "indeterminate" }, { reason: "unreached" }] : [{ text: "x" }, { sum: 3 }],
    );
    expect(calls(rig.methods)).toEqual(isOther ? [echo.id] : [echo.id, echo.id, add.id]);
  }
  expect(rig.events).toContainEqual({ event: "silent", why: "another device is on its line" });
  // Its tools are known still, and it is greeted before any call.
  expect(device.stub.tools()).toHaveLength(2);
  rig.isSilent = false;
  await expect.poll(() => device.isHere).toBe(true);
  expect(rig.methods).toContain(-1);
  expect(await callDevice(device.stub, add, { a: 1, b: 2 }, undefined)).toMatchObject({
    structuredContent: { sum: 3 },
  });
});

test("[AX-B-9] noise is no sign of life", async () => {
  const rig = startDevice();
  await expect.poll(() => rig.device.isHere).toBe(true);
  rig.isSilent = true;
  const noise = setInterval(() => rig.say(Uint8Array.of(0x55, 0xaa, 0)), 20);
  onTestFinished(() => clearInterval(noise));
  await expect.poll(() => rig.device.isHere).toBe(false);
  // Control: it was heard, for what it is; and what is an answer is a sign.
  expect(rig.names()).toContain("dropped");
  rig.isSilent = false;
  await expect.poll(() => rig.device.isHere).toBe(true);
});

test("[AX-10.4-1] a line that brings only noise is closed, opened ever more seldom, and said to be so; its drops are told together", async () => {
  const flood = new Uint8Array(32_768).fill(1).map((_, at) => (at % 5 === 4 ? 0 : 4));
  let closed = 0;
  const rig = startDevice({}, () => async (taker) => {
    const timer = setInterval(() => taker.bytes(flood), 1);
    const close = () => {
      closed += 1;
      clearInterval(timer);
    };
    return { write: () => true, close };
  });
  await expect.poll(() => rig.opens).toBeGreaterThan(3);
  expect(closed).toBeGreaterThan(2);
  expect(rig.events).toContainEqual({
    event: "absent",
    why: "its line has ended: it brings noise: 65536 bytes without one that could be read",
  });
  const told = rig.events.filter(({ event }) => event === "dropped");
  // Each line brought three pieces before it was closed, of 6 553 broken frames each.
  expect(told.length).toBeLessThan(20);
  await expect
    .poll(() => rig.events.reduce((sum, one) => sum + (one.event === "dropped" ? one.count : 0), 0))
    .toBeGreaterThan(10_000);
});

test("[AX-10.4-1] a device that says more than its line may bring is read later, and is not lost", async () => {
  let paused = 0;
  let pausedMs = 0;
  const limits = {
    deviceLineBytesPerSecond: 20_000,
    deviceNoiseBytesMax: 65_536,
    deviceEventsPerSecond: 100,
  };
  const rig = startDevice(
    { tools: [add, echo] },
    (open) => async (taker) => {
      const line = await open(taker);
      const pause = (ms: number) => {
        paused += 1;
        pausedMs += ms;
      };
      return { ...line, pause };
    },
    limits,
  );
  await expect.poll(() => rig.device.isHere).toBe(true);
  // Control: an ordinary call is no reason to wait.
  expect(await callDevice(rig.device.stub, echo, { text: "x" }, undefined)).toMatchObject({
    structuredContent: { text: "x" },
  });
  expect(paused).toBe(0);
  const restart = announcement("sim", [
    [1, Uint8Array.of(5, 0, 0)],
    [2, echoTypes],
  ]);
  for (let sent = 0; sent < 10_000; sent += restart.length) rig.say(restart);
  expect(paused).toBeGreaterThan(0);
  expect(pausedMs).toBeGreaterThan(100);
  expect(rig.device.isHere).toBe(true);
});

test("what a line brings is read in turns, in the order it came, and bytes that wait are no noise", async () => {
  const waiting: (() => void)[] = [];
  let isBusy = false;
  const inTurn = (work: () => void) => {
    if (isBusy) waiting.push(work);
    else work();
  };
  const rig = startDevice({ tools: [add, echo] }, undefined, undefined, inTurn);
  await expect.poll(() => rig.device.isHere).toBe(true);
  isBusy = true;
  const restart = announcement("sim", [
    [1, Uint8Array.of(5, 0, 0)],
    [2, echoTypes],
  ]);
  // Cut where no single piece can be read.
  for (let round = 0; round < 10; round += 1) for (const byte of restart) rig.say(Uint8Array.of(byte));
  const restarts = () => rig.names().filter((name) => name === "restarted").length;
  expect([restarts(), waiting.length >= 10 * restart.length]).toEqual([0, true]);
  for (const work of waiting.splice(0)) work();
  expect(restarts()).toBe(10);
  expect(rig.device.isHere).toBe(true);
});

test("[AX-B-6] a line that ends under a long call is opened again at once, and nobody waits for the answer", async () => {
  const slow = { ...add, capability: {} };
  const rig = startDevice({ tools: [slow] });
  await expect.poll(() => rig.device.isHere).toBe(true);
  rig.isSilent = true;
  const call = rig.device.stub.call(slow, { a: 1, b: 2 }, undefined);
  await expect.poll(() => calls(rig.methods)).toHaveLength(1);
  // Meanwhile a heartbeat is due, and waits behind the call: that is when nobody looks at the line.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect([rig.opens, rig.methods.at(-1)]).toEqual([1, slow.id]);
  rig.end("unplugged");
  expect(await call).toEqual({ kind: "unanswered" });
  rig.isSilent = false;
  await expect.poll(() => rig.opens).toBe(2);
  await expect.poll(() => rig.device.isHere).toBe(true);
});

test("[AX-10.4-1] whatever one device's line throws ends nothing but that line", async () => {
  const rig = startDevice({}, (open, opened) => async (taker) => {
    const line = await open(taker);
    const fail = () => {
      throw new RangeError("a packet has 1 to 1024 bytes");
    };
    return opened === 1 ? { ...line, write: fail } : line;
  });
  await expect.poll(() => rig.device.isHere).toBe(true);
  expect(rig.opens).toBe(2);
  expect(rig.events).toContainEqual({ event: "absent", why: "a packet has 1 to 1024 bytes" });
});

test("a line that opens and ends without a device is opened ever more seldom; one that had a device is not", async () => {
  const rig = startDevice({}, () => async (taker) => {
    setImmediate(() => taker.ended("closed at once"));
    return { write: () => false, close: () => {} };
  });
  const control = startDevice();
  for (let opens = 1; opens < 12; opens += 1) {
    await expect.poll(() => control.device.isHere, { interval: 5 }).toBe(true);
    control.end("unplugged");
    await expect.poll(() => control.opens, { interval: 5 }).toBe(opens + 1);
  }
  expect(rig.opens).toBeGreaterThan(1);
  expect(rig.opens).toBeLessThan(8);
});

test("[AX-8.3-4] a device that restarts with other tools says so; with the same ones it does not", async () => {
  const rig = startDevice();
  await expect.poll(() => rig.device.isHere).toBe(true);
  rig.events.length = 0;
  rig.say(
    announcement("sim", [
      [1, Uint8Array.of(5, 0, 0)],
      [2, echoTypes],
    ]),
  );
  expect(rig.events).toEqual([{ event: "restarted", isChanged: false }]);
  rig.say(announcement("sim", [[2, echoTypes]]));
  expect(rig.events.slice(1)).toEqual([
    { event: "restarted", isChanged: true },
    { event: "missing_tool", name: "add" },
  ]);
  expect(rig.device.stub.tools().map(({ name }) => name)).toEqual(["echo"]);
});

test("[AX-10.4-1] a device that announces itself without end is told of only so often, however its tools change", async () => {
  const rig = startDevice();
  await expect.poll(() => rig.device.isHere).toBe(true);
  rig.events.length = 0;
  const both: [number, Uint8Array][] = [
    [1, Uint8Array.of(5, 0, 0)],
    [2, echoTypes],
  ];
  for (let round = 0; round < 500; round += 1) {
    rig.say(announcement("sim", both));
    rig.say(announcement("sim", both.slice(1)));
  }
  expect(rig.names().filter((name) => name === "restarted")).toHaveLength(16);
  // What it has said last counts, whoever was told of it.
  expect(rig.device.stub.tools().map(({ name }) => name)).toEqual(["echo"]);
});

test("[AX-8.3-4] [AX-12-1] an event on a line where nobody shows who it is, is dropped and counted", async () => {
  const rig = startDevice({ events: [{ id: 1, name: "door" }] });
  rig.isSilent = true;
  const event = new Map<number, CborValue>([
    [1, -3],
    [
      3,
      new Map<number, CborValue>([
        [0, 1],
        [1, new Map()],
      ]),
    ],
  ]);
  await expect.poll(() => rig.methods.length).toBeGreaterThan(0);
  rig.say(frameCobs(sealed(encodeCbor(event))));
  await expect
    .poll(() => rig.events)
    .toContainEqual({ event: "dropped", why: "an event of a device that did not show itself", count: 1 });
});
