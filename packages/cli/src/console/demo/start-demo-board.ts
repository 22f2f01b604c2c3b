// The demo's board: real firmware in an emulator, a process of its own, where this is a clone and both compiler and
// emulator are installed. It comes after the gateway is ready, and ends with it.
import { socketLine } from "@mcpx/devices";
import type { Logger } from "@mcpx/host";
import { demoEntry } from "../../devices/demo-entry.ts";
import { findTarget, hasFirmware, howToInstall, loadEmulators, missingFor } from "../../devices/emulators.ts";
import type { OpenDevices } from "../../devices/open-devices.ts";
import { deviceConfig } from "../../settings/device-settings.ts";

const board = "microbit-b";
const segment = "board";

export interface DemoBoardOptions {
  devices: Pick<OpenDevices, "open">;
  /** The PATH on which programs are looked for. */
  path: string | undefined;
  log: Logger;
}

export interface DemoBoard {
  stop(): Promise<void>;
}

/** Whether there will be one. */
export function hasDemoBoard(path: string | undefined): boolean {
  return hasFirmware() && missingFor("cortex-m", path).length === 0;
}

/** Returns at once. Without a board the demo is what it was; a clone is told what is missing. */
export function startDemoBoard(options: DemoBoardOptions): DemoBoard {
  const { path, log } = options;
  if (!hasDemoBoard(path)) {
    if (hasFirmware()) log.info(`the demo has no board; ${howToInstall(missingFor("cortex-m", path))}`);
    return { stop: async () => {} };
  }
  const ending = new AbortController();
  const over = runBoard(options, ending.signal).catch((error: unknown) => {
    if (!ending.signal.aborted) log.warn({ err: error }, "demo board ended");
  });
  return {
    stop: async () => {
      ending.abort();
      await over;
    },
  };
}

async function runBoard({ devices }: DemoBoardOptions, signal: AbortSignal): Promise<void> {
  const emulators = await loadEmulators();
  await using opened = new AsyncDisposableStack();
  const target = findTarget(emulators, board);
  const { socketPath = "", ended, stop } = await emulators.start(target, { isLineLeft: true, signal });
  opened.defer(stop);
  const entry = demoEntry(target.profile, `unix:${socketPath}`);
  opened.use(
    devices.open({
      line: entry.line,
      openLine: socketLine({ path: socketPath }),
      config: deviceConfig(segment, entry),
    }),
  );
  await Promise.race([ended, aborted(signal)]);
  if (!signal.aborted) throw new Error("the emulator of the board has ended");
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
