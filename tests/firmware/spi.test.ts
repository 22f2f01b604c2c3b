// A real SPI slave in simavr behind the gateway: configured as any device, on bad wires, and reset. Only the bus is
// played, by the simulator's socket; everything above it is what talks to /dev/spidev.
import { type OpenSpiPort, spiLine, spiSocketPort } from "@mcpx/devices";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { demoEntry } from "../../packages/cli/src/devices/demo-entry.ts";
import { buildOnce, type Image } from "../../scripts/firmware/build.ts";
import { type Board, startBoard } from "../../scripts/firmware/start-board.ts";
import { type Target, targets } from "../../scripts/firmware/targets.ts";
import { startTestServer } from "../support/test-server.ts";
import { demoDevice } from "./support/demo-device.ts";
import { type DeviceTree, startDeviceTree } from "./support/device-tree.ts";

let image: Image;
let tree: DeviceTree;

beforeAll(async () => {
  image = await buildOnce(targets.find(({ line }) => line === "spi") as Target);
  tree = await startDeviceTree();
});

afterAll(() => tree[Symbol.asyncDispose]());

const overSpi = { encoding: "packet", transport: "spi_cbor" } as const;
const start = () => startBoard(image, { isLineLeft: true });
const pathOf = ({ socketPath }: Board) => socketPath as string;

test("[AX-8.1-3] [AX-8.3-3] an SPI device of the configuration is called through /mcp, and gated", async () => {
  await using board = await start();
  const devices = { valve: demoEntry("b", `spi+unix:${pathOf(board)}?poll=10`) };
  const server = await startTestServer({ config: { devices, gates: { hold: 0 } } });
  const client = new Client({ name: "unmodified", version: "1.0.0" });
  onTestFinished(async () => {
    await client.close();
    await server.stop();
  });
  const token = await server.token({ sub: "alice", topics: [], tools: ["**"] });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?names=canonical`), { requestInit }),
  );
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  await expect.poll(names).toEqual(expect.arrayContaining(["valve.set_led", "valve.release"]));
  const call = (name: string, args = {}) => client.callTool({ name: `valve.${name}`, arguments: args });
  expect((await call("set_led", { led: 1 })).structuredContent).toEqual({ led: true });
  expect((await call("read_sensor")).structuredContent).toEqual({ reading: 511, led: true, releases: 0 });
  expect(await call("release", { amount: 1 })).toMatchObject({
    isError: true,
    _meta: { "x-mcpax-confirmation": { status: "confirmation_required" } },
  });
  const { body } = await server.call("GET", "/admin/devices", await server.adminToken());
  expect(body.devices).toMatchObject([{ segment: "valve", state: "up", profile: "b" }]);
});

/** Of every `every` transfers one has a bit flipped, on the way there or back. */
function onBadWires(open: OpenSpiPort, every: number): { port: OpenSpiPort; spoilt(): number } {
  let count = 0;
  const flip = (bytes: Uint8Array, is: boolean) => {
    const flipped = Uint8Array.from(bytes);
    if (is)
      flipped[count % flipped.length] = (flipped[count % flipped.length] as number) ^ (1 << (count % 8));
    return flipped;
  };
  return {
    spoilt: () => Math.floor(count / every),
    port: async () => {
      const port = await open();
      return {
        ...port,
        transfer: async (bytes) => {
          count += 1;
          const isSpoilt = count % every === 0;
          const isThere = (count / every) % 2 === 0;
          return flip(await port.transfer(flip(bytes, isSpoilt && isThere)), isSpoilt && !isThere);
        },
      };
    },
  };
}

test("[AX-B-6] [AX-10.4-1] on bad wires what comes through is right, or said to be wrong", async () => {
  await using board = await start();
  const wires = onBadWires(spiSocketPort({ path: pathOf(board) }), 9);
  const demo = demoDevice("b", { segment: "wires", heartbeatMs: 60_000, ...overSpi });
  const config = { ...demo, tools: demo.tools.map((tool) => ({ ...tool, timeoutMs: 500 })) };
  const { device } = await tree.open(config, spiLine({ port: wires.port }));
  await expect.poll(() => tree.toolsOf("wires")).toHaveLength(3);
  const spoiltBefore = wires.spoilt();
  let right = 0;
  for (let at = 0; at < 20; at += 1) {
    const { isError, structuredContent } = await tree.call("wires.set_led", { led: at % 2 });
    if (isError !== true) {
      expect(structuredContent).toEqual({ led: at % 2 === 1 });
      right += 1;
    }
  }
  // Control: they were bad, and most calls came through all the same.
  expect(wires.spoilt() - spoiltBefore).toBeGreaterThan(3);
  expect(right).toBeGreaterThan(15);
  await device[Symbol.asyncDispose]();
});

test("[AX-13.2-1] [AX-8.1-3] a board that is gone is silent, and back when it is back", async () => {
  let board = await start();
  onTestFinished(() => board.stop());
  const port: OpenSpiPort = () => spiSocketPort({ path: pathOf(board) })();
  const config = demoDevice("b", { segment: "back", heartbeatMs: 200, ...overSpi });
  const { device, events } = await tree.open(config, spiLine({ port }));
  await expect.poll(() => tree.toolsOf("back")).toHaveLength(3);
  expect((await tree.call("back.set_led", { led: 1 })).structuredContent).toEqual({ led: true });
  await board.stop();
  await expect.poll(() => events.map(({ event }) => event)).toContain("silent");
  await expect(tree.call("back.read_sensor")).rejects.toThrow(/tool_degraded/);
  board = await start();
  await expect.poll(() => device.isHere).toBe(true);
  // Another one: its LED is off.
  expect((await tree.call("back.read_sensor")).structuredContent).toMatchObject({ led: false });
  await device[Symbol.asyncDispose]();
});
