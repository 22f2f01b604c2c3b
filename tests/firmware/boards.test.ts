// Real firmware on emulated boards, called through `/mcp` by an unmodified client. One board after the other.
import { once } from "node:events";
import type { Duplex } from "node:stream";
import {
  createLengthPrefixReader,
  decodePacket,
  encodeLengthPrefix,
  encodeRequest,
  idleByte,
  type OpenLine,
  type ReadLine,
  readLine,
  type StubMessage,
  type Unreadable,
} from "@mcpx/devices";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildOnce } from "../../scripts/firmware/build.ts";
import { transaction } from "../../scripts/firmware/exercise.ts";
import { type Board, startBoard } from "../../scripts/firmware/start-board.ts";
import { type Target, targets } from "../../scripts/firmware/targets.ts";
import { demoDevice } from "./support/demo-device.ts";
import { type DeviceTree, startDeviceTree } from "./support/device-tree.ts";

let tree: DeviceTree;

beforeAll(async () => {
  tree = await startDeviceTree();
});

afterAll(async () => {
  await tree[Symbol.asyncDispose]();
});

/** For the simulator that has no socket. */
function streamLine(stream: Duplex): OpenLine {
  return async (taker) => {
    stream.on("data", taker.bytes);
    return {
      write: (bytes) => {
        stream.write(bytes);
        return !stream.destroyed;
      },
      close: () => stream.destroy(),
    };
  };
}

function lineOf(
  { socketPath, line }: Board,
  target: Target,
): Pick<ReadLine, "open" | "encoding" | "transport"> {
  if (socketPath !== undefined)
    return readLine(`${target.line === "spi" ? "spi+unix" : "unix"}:${socketPath}`);
  return { encoding: "cbor", transport: "uart_cbor", open: () => streamLine(line) };
}

const boards = targets.map((target) => [target.name, target] as const);

test.each(boards)(
  "[AX-1.1-3] [AX-8.3-3] [AX-B-3] [AX-B-8] %s: sensor read, LED set, actuator stopped by its gate",
  async (name, target: Target) => {
    const image = await buildOnce(target);
    await using board = await startBoard(image, { isLineLeft: target.chip !== "8051" });
    const { open, encoding, transport } = lineOf(board, target);
    const config = demoDevice(target.profile, {
      segment: name,
      encoding,
      transport,
      ...(target.chip === "8051" && { payloadMax: 4 }),
    });
    const { events } = await tree.open(config, open());
    await expect.poll(() => events.map(({ event }) => event)).toContain("registered");
    await expect.poll(() => tree.toolsOf(name)).toEqual(["read_sensor", "release", "set_led"]);
    const before = await tree.call(`${name}.read_sensor`);
    expect(before.structuredContent).toEqual({ reading: expect.any(Number), led: false, releases: 0 });
    await tree.call(`${name}.set_led`, { led: 1 });
    expect((await tree.call(`${name}.read_sensor`)).structuredContent).toMatchObject({ led: true });
    const gated = await tree.call(`${name}.release`, { amount: 100 });
    expect(gated).toMatchObject({
      isError: true,
      _meta: { "x-mcpax-confirmation": { status: "confirmation_required" } },
    });
    // The gate stood before the device: nothing was released.
    expect((await tree.call(`${name}.read_sensor`)).structuredContent).toMatchObject({
      led: true,
      releases: 0,
    });
  },
);

test("[AX-8.1-3] atmega328p-spi-b: packets with their length, clocked through an SPI slave", async () => {
  const target = targets.find(({ line }) => line === "spi") as Target;
  const image = await buildOnce(target);
  await using board = await startBoard(image);
  const heard: (StubMessage | Unreadable)[] = [];
  const read = createLengthPrefixReader({
    frame: (packet) => heard.push(decodePacket(packet)),
    dropped: (why) => expect.fail(why),
  });
  board.line.on("data", read);
  const clock = (bytes: Uint8Array) => board.line.write(transaction(bytes));
  /** The master clocks until the stub has said something more. */
  const clocked = async (count: number) => {
    while (heard.length < count) {
      clock(new Uint8Array(16).fill(idleByte));
      await once(board.line, "data");
    }
  };
  await clocked(1);
  expect(heard[0]).toMatchObject({ kind: "announcement", registration: { packetMax: 96 } });
  clock(encodeLengthPrefix(encodeRequest(2, 7, [1])));
  await clocked(2);
  expect(heard[1]).toEqual({ kind: "result", id: 7, result: new Map([[0, true]]) });
  // Half a packet, and chip select goes up: the next one is heard from its beginning.
  clock(encodeLengthPrefix(encodeRequest(2, 8, [0])).subarray(0, 6));
  clock(encodeLengthPrefix(encodeRequest(1, 9, [])));
  await clocked(3);
  expect(heard.slice(2)).toEqual([
    {
      kind: "result",
      id: 9,
      result: new Map<number, unknown>([
        [0, 511],
        [1, true],
        [2, 0],
      ]),
    },
  ]);
});
