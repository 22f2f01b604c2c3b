// Bluetooth Low Energy from end to end: the library that lines use, emulated controllers, and a peripheral by a library
// that knows nothing of ours. Only the radio is missing.
import { bleChunks, gattLine, probeLine, readLine } from "@mcpx/devices";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packetLineCases } from "../../packages/devices/src/lines/packet-line-cases.ts";
import { simulatedConfig } from "../../packages/devices/src/testing/simulated-stub.ts";
import { type Controllers, startControllers } from "../../scripts/firmware/bluetooth/start-controllers.ts";
import { type Peripheral, startPeripheral } from "../../scripts/firmware/bluetooth/start-peripheral.ts";
import { type DeviceTree, startDeviceTree } from "./support/device-tree.ts";

const portVariable = "BLUETOOTH_HCI_SOCKET_UART_PORT";
const name = "mcpx lamp";

let controllers: Controllers;
let stub: Peripheral;
let tree: DeviceTree;

beforeAll(async () => {
  controllers = await startControllers();
  // Where the library finds its adapter.
  process.env[portVariable] = await controllers.add();
  stub = await startPeripheral(await controllers.add(), { name });
  tree = await startDeviceTree();
});

afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  stub[Symbol.dispose]();
  delete process.env[portVariable];
  await controllers[Symbol.asyncDispose]();
});

packetLineCases("[AX-8.1-2] Bluetooth", async () => ({
  stub: stub.stub,
  open: readLine(`ble:${name}`).open(),
  lose: () => stub.disconnect(),
  mend: () => {},
  [Symbol.asyncDispose]: async () => {},
}));

test("[AX-8.1-2] a device is called over Bluetooth; lost, it is silent, and comes back by itself", async () => {
  const interrupts = process.listenerCount("SIGINT");
  const { encoding, transport, open } = readLine(`ble:${stub.address}`);
  const config = simulatedConfig("ble", { encoding, transport, heartbeatMs: 500 });
  const { device, events } = await tree.open(config, open());
  await expect.poll(() => tree.toolsOf("ble")).toEqual(["add", "echo"]);
  expect(process.listenerCount("SIGINT")).toBe(interrupts);
  expect((await tree.call("ble.add", { a: 40, b: 2 })).structuredContent).toEqual({ sum: 42 });
  const long = "ünï".repeat(100);
  stub.sizes.length = 0;
  expect((await tree.call("ble.echo", { text: long })).structuredContent).toEqual({ text: long });
  // As much at once as the two sides agreed on.
  expect(Math.max(...stub.sizes)).toBe(253);
  stub.disconnect();
  await expect
    .poll(() => events)
    .toContainEqual({ event: "silent", why: "its line has ended: the connection is lost" });
  await expect.poll(() => device.isHere).toBe(true);
  const again = () => tree.call("ble.add", { a: 1, b: 2 }).then(({ structuredContent }) => structuredContent);
  expect(await again()).toEqual({ sum: 3 });
  await device[Symbol.asyncDispose]();
});

test("[AX-8.1-2] one that is not in reach is not found, and another is while it is sought", async () => {
  const ask = (device: string) =>
    probeLine({ encoding: "packet", openLine: gattLine({ chunks: bleChunks({ device, findMs: 1_500 }) }) });
  const missing = ask("nobody of this name");
  expect(await ask(name)).toMatchObject({ profile: "b", serial: "73696d" });
  await expect(missing).rejects.toThrow("not in reach");
});
