// Packets over what carries only a few bytes at a time: ISO-TP over SLCAN on a serial port (a pseudo terminal), and
// GATT chunks of 20 bytes, here each a datagram.
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createGattReader,
  encodeGatt,
  encodeRequest,
  gattLine,
  type OpenChunks,
  probeLine,
  readLine,
} from "@mcpx/devices";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { answerPackets, simulatedConfig } from "../../packages/devices/src/testing/simulated-stub.ts";
import { startSerialPort } from "../../scripts/firmware/start-serial-port.ts";
import { start } from "../cli/support/mcpx-process.ts";
import { type DeviceTree, startDeviceTree } from "./support/device-tree.ts";
import { type SlcanNode, startSlcanNode } from "./support/slcan-node.ts";

let tree: DeviceTree;
let directory: string;

beforeAll(async () => {
  tree = await startDeviceTree();
  directory = await mkdtemp(join(tmpdir(), "mcpx-buses-"));
});

afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const node = 5;
/** Many frames, and more than one block of them, in either direction. */
const long = "ünï".repeat(100);

async function startBus(name: string): Promise<{ bus: SlcanNode; port: string }> {
  const path = join(directory, name);
  const bus = await startSlcanNode(path, node);
  const port = await startSerialPort(path);
  onTestFinished(async () => {
    await Promise.all([port[Symbol.asyncDispose](), bus[Symbol.asyncDispose]()]);
  });
  return { bus, port: port.path };
}

test("[AX-8.1-4] a node behind an SLCAN adapter is called in single frames and in many", async () => {
  const { bus, port } = await startBus("called");
  const { encoding, transport, open } = readLine(`slcan:${port}?node=${node}&bitrate=250000`);
  const config = simulatedConfig("can", { encoding, transport });
  const { device, events } = await tree.open(config, open());
  // Before its port goes: the next one may have the same name, and it would open that.
  onTestFinished(() => device[Symbol.asyncDispose]());
  await expect.poll(() => events.map(({ event }) => event)).toContain("registered");
  expect(bus.lines.slice(0, 4)).toEqual(["", "C", "S5", "O"]);
  await expect.poll(() => tree.toolsOf("can")).toEqual(["add", "echo"]);
  expect((await tree.call("can.add", { a: 2, b: 3 })).structuredContent).toEqual({ sum: 5 });
  expect((await tree.call("can.echo", { text: long })).structuredContent).toEqual({ text: long });
  expect(bus.lines.filter((line) => line.startsWith("t40582")).length).toBeGreaterThan(50);
  // One frame lost spoils its packet; the call is safe to repeat, and is.
  bus.lose = 1;
  expect((await tree.call("can.echo", { text: long })).structuredContent).toEqual({ text: long });
  expect(bus.lose).toBe(0);
});

test("[AX-8.1-4] another node on the bus is not taken for it", async () => {
  const { port } = await startBus("others");
  const ask = (which: number) => {
    const { encoding, open } = readLine(`slcan:${port}?node=${which}`);
    return probeLine({ encoding, openLine: open(), timeoutMs: 500 });
  };
  expect(await ask(node + 1)).toBeUndefined();
  expect(await ask(node)).toMatchObject({ profile: "b", serial: "73696d" });
});

test("[AX-8.1-4] whoever only looks on at a bus puts nothing on it", async () => {
  const { bus, port } = await startBus("looked-at");
  const line = `slcan:${port}?node=${node}`;
  const monitor = start(["devices", "monitor", line]);
  await monitor.line(/watching/);
  await expect.poll(() => bus.lines.at(-1)).toBe("O");
  bus.say(encodeRequest(1, 7, ["more than one frame holds"]));
  await monitor.line(/more than one frame holds/);
  monitor.kill("SIGTERM");
  expect((await monitor.ended).code).toBe(0);
  const sent = () => bus.lines.filter((text) => text.startsWith("t"));
  expect(sent()).toEqual([]);
  // Control: whoever asks says how it may go on.
  const { encoding, open } = readLine(line);
  await probeLine({ encoding, openLine: open() });
  expect(sent().filter((text) => text.startsWith("t405830"))).not.toEqual([]);
});

/** A characteristic as datagrams: each write is heard as one piece, as long as it was. */
async function startCharacteristic(chunkBytesMax?: number): Promise<{ chunks: OpenChunks; sizes: number[] }> {
  const answer = answerPackets();
  const stub = createSocket("udp4");
  const sizes: number[] = [];
  let peer = 0;
  const read = createGattReader({
    dropped: (why) => expect.fail(why),
    frame: (packet) => {
      for (const chunk of encodeGatt(answer(packet) ?? new Uint8Array())) stub.send(chunk, peer, "127.0.0.1");
    },
  });
  stub.on("message", (chunk, { port }) => {
    sizes.push(chunk.length);
    peer = port;
    read(chunk);
  });
  stub.bind(0, "127.0.0.1");
  await once(stub, "listening");
  const { port } = stub.address();
  onTestFinished(() => void stub.close());
  const chunks: OpenChunks = async (taker) => {
    const socket = createSocket("udp4").on("message", taker.bytes);
    return {
      chunkBytesMax,
      write: (chunk) => {
        socket.send(chunk, port, "127.0.0.1");
        return true;
      },
      close: () => socket.close(),
    };
  };
  return { chunks, sizes };
}

test("[AX-8.1-2] a device behind GATT is called in chunks of at most 20 bytes", async () => {
  const { chunks, sizes } = await startCharacteristic();
  const config = simulatedConfig("ble", { encoding: "packet", transport: "ble_cbor" });
  const { device, events } = await tree.open(config, gattLine({ chunks }));
  await expect.poll(() => events.map(({ event }) => event)).toContain("registered");
  await expect.poll(() => tree.toolsOf("ble")).toEqual(["add", "echo"]);
  expect((await tree.call("ble.add", { a: 40, b: 2 })).structuredContent).toEqual({ sum: 42 });
  expect((await tree.call("ble.echo", { text: long })).structuredContent).toEqual({ text: long });
  expect(Math.max(...sizes)).toBe(20);
  expect(sizes.length).toBeGreaterThan(25);
  await device[Symbol.asyncDispose]();
});

test("[AX-8.1-2] with a larger MTU chunks are larger", async () => {
  const { chunks, sizes } = await startCharacteristic(182);
  const config = simulatedConfig("mtu", { encoding: "packet", transport: "ble_cbor" });
  const { device } = await tree.open(config, gattLine({ chunks }));
  await expect.poll(() => tree.toolsOf("mtu")).toEqual(["add", "echo"]);
  await tree.call("mtu.echo", { text: long });
  expect(Math.max(...sizes)).toBe(182);
  await device[Symbol.asyncDispose]();
});
