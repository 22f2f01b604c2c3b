// What `mcpx devices sim` does: builds the firmware, starts the emulator, and gives its line to others or to the
// gateway that runs.
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type Device, type DeviceEvent, openDevice, readLine } from "@mcpx/devices";
import { accessGateway } from "../access/gateway-access.ts";
import type { SimContext } from "../commands/devices/devices-sim.ts";
import { segmentUuid } from "../config/segment-uuid.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { visible } from "../framework/visible.ts";
import { deviceConfig } from "../settings/device-settings.ts";
import { type DemoEntry, demoEntry } from "./demo-entry.ts";
import { checkInstalled, findTarget, loadEmulators } from "./emulators.ts";
import { listening } from "./monitor-line.ts";

const boardDefault = "microbit-b";

export async function runSim(context: SimContext): Promise<number> {
  const { options, output, words } = context;
  const [name = boardDefault] = words;
  const { segment = name } = options;
  if (!/^[a-z0-9_-]{1,63}$/.test(segment)) {
    throw misuse(`invalid value "${segment}" for --segment`, "use 1 to 63 characters of a-z 0-9 _ -");
  }
  const emulators = await loadEmulators();
  const target = findTarget(emulators, name);
  checkInstalled(target, context.env.PATH);
  const signal = context.interrupted();
  const opened = new AsyncDisposableStack();
  try {
    const directory = await mkdtemp(join(tmpdir(), "mcpx-sim-"));
    opened.defer(() => rm(directory, { recursive: true, force: true }));
    output.note(`-- building and starting ${name}`);
    const board = await emulators.start(target, { signal });
    opened.defer(() => board.stop());
    const path = join(directory, "line");
    opened.defer(await offerLine(board.line, path));
    const line = `${target.line === "spi" ? "spi+unix" : "unix"}:${path}`;
    const entry = demoEntry(target.profile, line, target.chip === "8051" ? 4 : undefined);
    const over = Promise.race([once(board.line, "close"), untilAborted(signal)]);
    if (options.join) opened.use(await joinTree(context, segment, entry));
    else show(context, name, segment, entry);
    await over;
    if (!signal.aborted) throw new Failure(`the emulator of ${name} has ended`);
    return 0;
  } finally {
    await opened.disposeAsync();
  }
}

function show(
  { options, output, program }: SimContext,
  name: string,
  segment: string,
  entry: DemoEntry,
): void {
  if (options.json) {
    output.json({ event: "started", board: name, line: entry.line, devices: { [segment]: entry } });
    return;
  }
  output.line(`${output.paint("bold", name)} runs until Ctrl-C; its line is ${entry.line}`);
  output.line();
  output.line(`Ask it who it is:  ${program} devices probe ${entry.line}`);
  output.line(`At once in the tree:  ${program} devices sim ${name} --join`);
  output.line("Or, for mcpx.json:");
  output.line(JSON.stringify({ devices: { [segment]: entry } }, null, 2));
}

async function joinTree(context: SimContext, segment: string, entry: DemoEntry): Promise<Device> {
  const claims = { sub: segment, topics: [], segment, scope: "write" } as const;
  const access = accessGateway(context, claims);
  const { url } = await access.enter();
  const { encoding, transport, open } = readLine(entry.line);
  return openDevice({
    config: { ...deviceConfig(segment, entry), encoding, transport },
    openLine: open(),
    url,
    registration: {
      token: async () => (await access.enter()).token,
      subserverId: segmentUuid(dataDirOf(context, context.options), segment),
    },
    onEvent: (event) => tell(context, segment, event),
  });
}

function tell({ options, output, program }: SimContext, segment: string, event: DeviceEvent): void {
  if (options.json) output.json({ segment, ...event });
  else if (event.event === "registered") {
    output.line(`${segment} is part of the tree; Ctrl-C ends`);
    output.line(`Try:  ${program} call ${segment}.read_sensor`);
  } else if ("why" in event) output.note(`-- ${event.event}: ${visible(event.why)}`);
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** The board's line for one at a time, who may come and go: the board stays. Gives back how to end that. */
async function offerLine(line: Duplex, path: string): Promise<() => Promise<void>> {
  let user: Socket | undefined;
  const server = createServer((socket) => {
    if (user !== undefined) return void socket.destroy();
    user = socket;
    socket.on("data", (bytes) => line.write(bytes));
    // A client that resets the socket has left too.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => {
      user = undefined;
    });
  });
  line.on("data", (bytes: Buffer) => user?.write(bytes));
  await listening(server, path);
  return async () => {
    user?.destroy();
    const closed = once(server, "close");
    server.close();
    await closed;
  };
}
