// From the configuration to the devices on lines of this machine.
import {
  checkDeviceConfig,
  type DeviceConfig,
  DeviceConfigError,
  type OpenLine,
  readLine,
} from "@mcpx/devices";
import type { Config } from "../config/config.ts";
import { type FillInFrom, fillIn } from "../files/fill-in.ts";
import { Failure } from "../framework/failure.ts";

export interface DeviceSettings {
  /** As it was written; there is no secret in it. */
  line: string;
  openLine: OpenLine;
  config: DeviceConfig;
}

export type DeviceEntry = NonNullable<Config["devices"]>[string];

export function deviceSettings({ devices = {} }: Config, world: FillInFrom): DeviceSettings[] {
  return Object.entries(devices)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([segment, entry]) => settingsOf(segment, entry, world));
}

function settingsOf(segment: string, entry: DeviceEntry, world: FillInFrom): DeviceSettings {
  const { encoding, transport, open } = readLine(entry.line, world.dir);
  const isFramed = entry.framing === "frame";
  if (isFramed && encoding !== "cbor") {
    throw new Failure(`devices.${segment}: ${entry.line} carries no frames`, "leave framing out there");
  }
  const config = {
    ...deviceConfig(segment, entry),
    encoding: isFramed ? "frame" : encoding,
    transport,
  } as const;
  try {
    checkDeviceConfig(config);
  } catch (error) {
    if (!(error instanceof DeviceConfigError)) throw error;
    throw new Failure(`devices.${segment}: ${error.message}`, "spec/devices.md says what there is");
  }
  const { username, password } = entry;
  return {
    line: entry.line,
    config,
    // Read anew each time: a password in a file or variable may be replaced while we run.
    openLine: async (taker) => {
      const login = { username, password: password && fillIn(password, world) };
      return open(login)(taker);
    },
  };
}

export function deviceConfig(segment: string, entry: DeviceEntry): DeviceConfig {
  const { profile, tools, events = {}, serial, crc, payloadMax, status, heartbeat } = entry;
  return {
    segment,
    profile,
    serial,
    crc,
    payloadMax,
    status,
    heartbeatMs: heartbeat,
    tools: Object.entries(tools).map(([name, { timeout, ...tool }]) => ({
      name,
      ...tool,
      timeoutMs: timeout,
    })),
    events: Object.entries(events).map(([name, event]) => ({ name, ...event })),
  };
}
