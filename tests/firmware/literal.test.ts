// Stubs that know nothing of ours: written after the source's appendix, with its tables, compiled for this machine, each on
// a pseudo terminal of its own, called through `/mcp` by an unmodified client.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { type DeviceConfig, probeLine, serialLine } from "@mcpx/devices";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { keepBuilt } from "../../scripts/firmware/keep-built.ts";
import { type DeviceTree, startDeviceTree } from "./support/device-tree.ts";
import { textsOf } from "./support/sanitised.ts";

const run = promisify(execFile);
const folder = join(import.meta.dirname, "literal");

let tree: DeviceTree;

beforeAll(async () => {
  tree = await startDeviceTree();
});

afterAll(() => tree[Symbol.asyncDispose]());

/** Built and started; the path of its line. */
async function startLiteral(stub: "stub_a" | "stub_b", flags: readonly string[] = []): Promise<string> {
  const names = [`${stub}.c`, "frame.c", "line.c"];
  const files = names.map((name) => join(folder, name));
  const words = ["-std=gnu99", "-O1", "-Wall", "-Wextra", "-Werror", ...flags];
  const texts = await textsOf([...files, join(folder, "frame.h"), join(folder, "line.h")]);
  const built = await keepBuilt({ compiler: "gcc", words: [...words, ...texts] }, (directory) =>
    run("gcc", [...words, "-o", join(directory, "stub"), ...files]),
  );
  const child = spawn(join(built, "stub"), { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  const [path] = (await once(createInterface(child.stdout), "line")) as [string];
  return path;
}

const looks = { mutable: false, reversible: true, idempotent: true, auth_scope: "read" } as const;
const sets = { mutable: true, reversible: true, idempotent: true, auth_scope: "write" } as const;

/** Says of each device whatever happened to it, so that a test that waits in vain tells why. */
async function open(config: DeviceConfig, path: string) {
  const opened = await tree.open(config, serialLine({ path }));
  onTestFinished(() => opened.device[Symbol.asyncDispose]());
  await expect.poll(() => opened.events.map(({ event }) => event)).toContain("registered");
  return opened;
}

test("[AX-8.3-1] [AX-B-1] [AX-B-4] a profile A stub with the source's table is called, its status behind its payload", async () => {
  const path = await startLiteral("stub_a");
  const config: DeviceConfig = {
    segment: "literal-a",
    profile: "a",
    status: "last",
    heartbeatMs: 200,
    tools: [
      {
        id: 1,
        name: "read_sensor",
        capability: looks,
        result: [
          { name: "reading", type: "u16" },
          { name: "led", type: "bool" },
          { name: "mark", type: "u8" },
        ],
      },
      { id: 2, name: "set_led", capability: sets, arguments: [{ name: "led", type: "u8" }] },
    ],
  };
  const { device } = await open(config, path);
  await expect.poll(() => tree.toolsOf("literal-a")).toEqual(["read_sensor", "set_led"]);
  expect((await tree.call("literal-a.set_led", { led: 1 })).isError).toBeFalsy();
  expect((await tree.call("literal-a.read_sensor")).structuredContent).toEqual({
    reading: 2_150,
    led: true,
    mark: 0x7e,
  });
  // The status is read where it stands: an error is one.
  expect((await tree.call("literal-a.set_led", { led: 2 })).structuredContent).toEqual({
    reason: "device_error",
    device_status: 2,
  });
  expect(device.isHere).toBe(true);
});

const toolsOfB: DeviceConfig["tools"] = [
  {
    id: 1,
    name: "dma2d_status",
    capability: looks,
    result: [
      { name: "busy", type: "bool" },
      { name: "led", type: "bool" },
    ],
  },
  {
    id: 2,
    name: "set_led",
    capability: sets,
    arguments: [{ name: "led", type: "uint" }],
    result: [{ name: "led", type: "bool" }],
  },
  // Configured, and not in the stub's table.
  { id: 3, name: "missing", capability: looks },
];

test.each([
  ["in the reference frame, registered with TYPE 3", "literal-framed", ["-DFRAMED"], { encoding: "frame" }],
  ["in COBS, with key 0 and without a CRC", "literal-cobs", [], { encoding: "cbor", crc: 0 }],
] as const)(
  "[AX-8.2-1] [AX-8.3-2] [AX-B-1] [AX-B-8] a profile B stub with the source's table is called, %s",
  async (_name, segment, flags, more) => {
    const path = await startLiteral("stub_b", flags);
    if (flags.length > 0) {
      // Before the gateway has its line: a port has one owner.
      const found = await probeLine({ openLine: serialLine({ path }), encoding: "cbor", timeoutMs: 2_000 });
      expect(found).toMatchObject({ profile: "b", framedCrc: 16, serial: "", tools: [{ id: 1 }, { id: 2 }] });
    }
    const config: DeviceConfig = { segment, profile: "b", heartbeatMs: 200, tools: toolsOfB, ...more };
    const { device, events } = await open(config, path);
    await expect.poll(() => tree.toolsOf(segment)).toEqual(["dma2d_status", "set_led"]);
    expect(events).toContainEqual({ event: "missing_tool", name: "missing" });
    expect((await tree.call(`${segment}.set_led`, { led: 1 })).structuredContent).toEqual({ led: true });
    expect((await tree.call(`${segment}.dma2d_status`)).structuredContent).toEqual({
      busy: false,
      led: true,
    });
    expect((await tree.call(`${segment}.set_led`, { led: 7 })).structuredContent).toEqual({
      reason: "device_error",
      device_status: 2,
    });
    // Heartbeats go on, and are answered.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(device.isHere).toBe(true);
    expect(events.map(({ event }) => event)).not.toContain("silent");
  },
);
