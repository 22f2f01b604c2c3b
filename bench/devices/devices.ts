// What a call to a device costs in the gateway: arguments checked, CBOR, COBS, a socket, the result checked. The
// devices are simulated in another process.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { socketLine } from "@mcpx/devices";
import type { JsonObject } from "@mcpx/protocol";
import { createDeviceServer, type DeviceServer } from "../../packages/devices/src/gateway/device-server.ts";
import type { Stub } from "../../packages/devices/src/gateway/stub.ts";
import { createStubB } from "../../packages/devices/src/gateway/stub-b.ts";
import type { Line } from "../../packages/devices/src/lines/line.ts";
import { simulatedConfig } from "../../packages/devices/src/testing/simulated-stub.ts";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";

const devicesCount = sized(100, 4);
const rounds = sized(9, 2);
const warmUpRounds = sized(3, 1);
const callsPerRound = sized(2_000, 100);
const goals = { cpuMs: 0.3 };

interface Caller {
  call(a: number): Promise<JsonObject>;
  line: Line;
}

export async function benchDevices(note: (line: string) => void): Promise<Record<string, unknown>> {
  const { child, lines, ports } = await startStubs();
  try {
    const callers = await Promise.all(ports.map(openCaller));
    note("devices: one device, one call after the other");
    const one = await measure((i) => callAll([callers[0] as Caller], i), callsPerRound);
    note(`devices: ${devicesCount} devices at once`);
    const turns = callsPerRound / devicesCount;
    const all = await measure((i) => callAll(callers, i), turns, devicesCount);
    note("devices: one of them silent");
    child.stdin?.write("\n");
    await once(lines, "line");
    const silent = await measureBesideSilent(callers);
    for (const { line } of callers) line.close();
    const ratio = { cpu_vs_goal: round3(one.cpuMs / goals.cpuMs) };
    return { oneDevice: one, devicesAtOnce: { devices: devicesCount, ...all }, besideSilent: silent, ratio };
  } finally {
    const exited = once(child, "exit");
    child.kill();
    await exited;
  }
}

async function startStubs() {
  const script = join(import.meta.dirname, "stubs.ts");
  const args = ["--conditions=mcpx-source", script, String(devicesCount)];
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface(child.stdout as NodeJS.ReadableStream);
  const [text] = (await once(lines, "line")) as [string];
  return { child, lines, ports: JSON.parse(text) as number[] };
}

async function openCaller(port: number): Promise<Caller> {
  const stub = createStubB(simulatedConfig("device"), {
    dropped: fail,
    heard: () => {},
    said: () => {},
    restarted: () => {},
    replaced: () => {},
  });
  const line = await socketLine({ host: "127.0.0.1", port })({ bytes: stub.readLine(), ended: () => {} });
  stub.conversation.use(line);
  const fault = await stub.greet(5_000);
  if (fault !== undefined) fail(fault);
  return { line, call: callerOf(serverOf(stub)) };
}

function fail(why: string): never {
  throw new Error(`devices: ${why}`);
}

function serverOf(stub: Stub): DeviceServer {
  return createDeviceServer({
    segment: "device",
    transport: "uart_cbor",
    stub,
    silentSince: () => undefined,
    heard: () => {},
  });
}

/** As the tree calls it, without the tree. */
function callerOf(server: DeviceServer): Caller["call"] {
  const open = new Map<unknown, (message: JsonObject) => void>();
  let nextId = 0;
  const transport = {
    onmessage: undefined as ((message: JsonObject) => void) | undefined,
    start: async () => {},
    send: async (message: JsonObject) => {
      open.get(message.id)?.(message);
      open.delete(message.id);
    },
    close: async () => {},
  };
  void server.connect(transport as never);
  return (a) =>
    new Promise((resolve) => {
      nextId += 1;
      open.set(nextId, resolve);
      const params = { name: "add", arguments: { a, b: 1 } };
      transport.onmessage?.({ jsonrpc: "2.0", id: nextId, method: "tools/call", params });
    });
}

async function callAll(callers: readonly Caller[], a: number): Promise<void> {
  const answers = await Promise.all(callers.map(({ call }) => call(a)));
  for (const { result } of answers) {
    if (JSON.stringify((result as JsonObject)?.structuredContent) !== `{"sum":${a + 1}}`) fail("a wrong sum");
  }
}

async function measure(turn: (i: number) => Promise<void>, turns: number, callsPerTurn = 1) {
  const [cpu, wall]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const [before, startedAt] = [process.cpuUsage(), performance.now()];
    for (let i = 0; i < turns; i += 1) await turn(i);
    const { user, system } = process.cpuUsage(before);
    cpu.push((user + system) / 1_000 / (turns * callsPerTurn));
    wall.push((performance.now() - startedAt) / (turns * callsPerTurn));
  }
  const middle = (all: number[]) => percentile(all.slice(warmUpRounds).toSorted(ascending), 50);
  return { cpuMs: round3(middle(cpu)), wallMs: round3(middle(wall)) };
}

/** The last does not answer; the others are called all the while it is waited for. */
async function measureBesideSilent(callers: readonly Caller[]) {
  const others = callers.slice(0, -1);
  let isWaiting = true;
  const silent = callers
    .at(-1)
    ?.call(1)
    .then(() => {
      isWaiting = false;
    });
  const times: number[] = [];
  while (isWaiting) {
    await Promise.all(
      others.map(async ({ call }) => {
        const startedAt = performance.now();
        await call(1);
        times.push(performance.now() - startedAt);
      }),
    );
  }
  await silent;
  const sorted = times.toSorted(ascending);
  const [p50Ms, p99Ms] = [percentile(sorted, 50), percentile(sorted, 99)];
  return {
    calls: times.length,
    p50Ms: round3(p50Ms),
    p99Ms: round3(p99Ms),
    maxMs: round3(sorted.at(-1) ?? 0),
  };
}

function ascending(a: number, b: number): number {
  return a - b;
}

function round3(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
