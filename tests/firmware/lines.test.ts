// Lines other than sockets: a serial port (a pseudo terminal) with the C stub behind it, and an MQTT broker.
import { mqttLine, serialLine } from "@mcpx/devices";
import { connectAsync } from "mqtt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startSerialPort } from "../../scripts/firmware/start-serial-port.ts";
import { connectJsonDevice, startBroker } from "./support/broker.ts";
import { demoDevice } from "./support/demo-device.ts";
import { type DeviceTree, startDeviceTree } from "./support/device-tree.ts";
import { buildHostStubs } from "./support/host-stub.ts";

let tree: DeviceTree;

beforeAll(async () => {
  tree = await startDeviceTree();
});

afterAll(() => tree[Symbol.asyncDispose]());

test("[AX-8.1-1] a device on a serial port is called, and silent when the port goes away", async () => {
  await using stubs = await buildHostStubs();
  const { path } = await stubs.start("b");
  await using port = await startSerialPort(path);
  const { device, events } = await tree.open(
    demoDevice("b", { segment: "serial" }),
    serialLine({ path: port.path }),
  );
  await expect.poll(() => tree.toolsOf("serial")).toHaveLength(3);
  expect((await tree.call("serial.set_led", { led: 1 })).structuredContent).toEqual({ led: true });
  expect((await tree.call("serial.read_sensor")).structuredContent).toMatchObject({
    reading: 2_150,
    led: true,
  });
  await port[Symbol.asyncDispose]();
  await expect.poll(() => events.map(({ event }) => event)).toContain("silent");
  expect(device.isHere).toBe(false);
});

test("[AX-8.1-5] a device behind a broker is called; what is retained is not believed; its last will is heard", async () => {
  await using broker = await startBroker();
  const forger = await connectAsync(broker.url);
  const forged = JSON.stringify({ id: 1, result: { 0: 1, 1: "AAAA", 2: 1_024, 4: {} } });
  await forger.publishAsync("mcpx/devices/boiler/up", forged, { qos: 1, retain: true });
  await forger.publishAsync("mcpx/devices/boiler/gone", "now", { qos: 1, retain: true });
  const boiler = await connectJsonDevice(broker.url, "boiler");
  const config = demoDevice("b", { segment: "boiler", encoding: "json", serial: "64656d6f" });
  const { device, events } = await tree.open(config, mqttLine({ url: broker.url, name: "boiler" }));
  await expect.poll(() => tree.toolsOf("boiler")).toHaveLength(3);
  expect((await tree.call("boiler.set_led", { led: 1 })).structuredContent).toEqual({ led: true });
  expect((await tree.call("boiler.read_sensor")).structuredContent).toMatchObject({
    reading: 2_150,
    led: true,
  });
  expect(await tree.availability("boiler.read_sensor")).not.toBe("degraded");
  expect(device.isHere).toBe(true);
  // Cut off without a word: the broker says its last will.
  boiler.stream.destroy();
  await expect
    .poll(() => events)
    .toContainEqual({ event: "silent", why: "its line has ended: the device is gone" });
  // It comes back by itself, and so does the gateway's line.
  await expect.poll(() => device.isHere).toBe(true);
  await Promise.all([boiler.endAsync(), forger.endAsync()]);
});

test("[AX-8.1-5] names and prefixes with wildcards are refused", () => {
  const url = "mqtt://127.0.0.1:1";
  for (const name of ["+", "#", "a/b", "", "A", "x".repeat(64)])
    expect(() => mqttLine({ url, name }), name).toThrow();
  for (const prefix of ["+", "a/#", "/a", "a/", "$SYS"])
    expect(() => mqttLine({ url, name: "a", prefix })).toThrow();
  expect(() => serialLine({ path: "/dev/null", baudRate: 4_800 })).toThrow(/9600/);
});
