// The configured devices in our own tree, registered in this process: each comes when it can and comes back by itself,
// is degraded while it is silent, and ends with us.
import type { Registrar } from "@mcpx/aggregator";
import { type Device, type DeviceEvent, openDevice } from "@mcpx/devices";
import type { Clock, Logger, Principal, Turns } from "@mcpx/host";
import type { JsonObject, Limits } from "@mcpx/protocol";
import { ownPrincipal } from "../access/local-gateway.ts";
import { segmentUuid } from "../config/segment-uuid.ts";
import type { DeviceSettings } from "../settings/device-settings.ts";
import { type WatchedDevice, watchDevice } from "./watched-device.ts";

interface DeviceFacts {
  segment: string;
  line: string;
  profile: "a" | "b";
  state: "up" | "degraded" | "down";
  /** Since when it has been in this state. */
  since: string;
  /** What is wrong, where something is. */
  why: string | undefined;
  tools: string[];
  /** Configured, and not on the device or with other types. */
  missing: string[];
  /** What came over its line and could not be read. */
  dropped: number;
}

export interface OpenDevices {
  facts(): DeviceFacts[];
  /** What goes over its line, for people who look on; `undefined` where there is no such device. */
  frames(segment: string, after: number | undefined): JsonObject | undefined;
  /** One more, until it is disposed of or everything ends. */
  open(settings: DeviceSettings): AsyncDisposable;
}

export interface DeviceParts {
  dataDir: string;
  registrar: Pick<Registrar, "enter">;
  log: Logger;
  clock: Clock;
  limits?: Limits | undefined;
  /** In which what their lines bring is read; as it comes unless given. */
  turns?: Turns | undefined;
}

/** No address is dialled: the registrar is in this process. */
const here = "ws://localhost/ax";

/** None yet. What is opened is closed by `opened`. */
export function createDevices(parts: DeviceParts, opened: AsyncDisposableStack): OpenDevices {
  const watched = new Set<Watched>();
  const close = async (one: Watched) => {
    watched.delete(one);
    await one.device[Symbol.asyncDispose]();
  };
  opened.defer(async () => {
    await Promise.all([...watched].map(close));
  });
  return {
    facts: () => [...watched].map(factsOf),
    frames: (segment, after) =>
      [...watched].find(({ settings }) => settings.config.segment === segment)?.line.frames(after),
    open: (one) => {
      const added = openOne(one, parts);
      watched.add(added);
      return { [Symbol.asyncDispose]: () => close(added) };
    },
  };
}

interface Watched {
  settings: DeviceSettings;
  device: Device;
  line: WatchedDevice;
  story: Story;
}

/** What its events tell, as far as somebody may want to know it later. */
interface Story {
  isRegistered: boolean;
  since: Date;
  why: string | undefined;
  missing: string[];
  dropped: number;
}

function openOne(
  settings: DeviceSettings,
  { dataDir, registrar, log, limits, turns, clock }: DeviceParts,
): Watched {
  const { config, line } = settings;
  const { segment } = config;
  const story: Story = { isRegistered: false, since: new Date(), why: undefined, missing: [], dropped: 0 };
  const principal = principalFor(segment);
  const watchedLine = watchDevice(settings, clock);
  const device = openDevice({
    config,
    openLine: watchedLine.openLine,
    limits,
    inTurn: turns && ((work) => void turns.run(turns.account(`device ${segment}`), work)),
    url: here,
    registration: {
      subserverId: segmentUuid(dataDir, segment),
      openSocket: () => registrar.enter(principal, { line, profile: config.profile }),
    },
    onEvent: (event) => {
      note(story, event);
      tell(log, { device: segment, line }, event);
    },
  });
  return { settings, device, line: watchedLine, story };
}

/** What its tools may need is the configuration's to say, and `subservers` may bound it. */
function principalFor(segment: string): Principal {
  return { ...ownPrincipal(`device:${segment}`, segment, "robot"), topics: [], segment, scope: "admin" };
}

function note(story: Story, event: DeviceEvent): void {
  switch (event.event) {
    case "here":
      Object.assign(story, { since: new Date(), why: undefined, missing: [] });
      return;
    case "silent":
      Object.assign(story, { since: new Date(), why: event.why });
      return;
    case "deregistered":
      Object.assign(story, { isRegistered: false, since: new Date() });
      return;
    case "absent":
      story.why = event.why;
      return;
    case "refused":
      Object.assign(story, { isRegistered: false, why: event.why });
      return;
    case "registered":
      Object.assign(story, { isRegistered: true, why: undefined });
      return;
    case "restarted":
      if (event.isChanged) story.missing = [];
      return;
    case "missing_tool":
      story.missing.push(event.name);
      return;
    case "dropped":
      story.dropped += event.count;
  }
}

const levels = {
  here: "info",
  absent: "warn",
  silent: "warn",
  restarted: "info",
  registered: "info",
  deregistered: "warn",
  refused: "error",
  missing_tool: "warn",
  dropped: "debug",
} as const satisfies Record<DeviceEvent["event"], keyof Logger>;

const phrases: Record<DeviceEvent["event"], string> = {
  here: "device connected",
  absent: "device line cannot be opened",
  silent: "device does not answer",
  restarted: "device restarted",
  registered: "device registered",
  deregistered: "device no longer registered",
  refused: "device registration refused",
  missing_tool: "device lacks a configured tool",
  dropped: "dropped unreadable data of a device",
};

function tell(log: Logger, place: { device: string; line: string }, { event, ...more }: DeviceEvent): void {
  log[levels[event]]({ ...place, event, ...more }, phrases[event]);
}

function factsOf({ settings: { line, config }, device, story }: Watched): DeviceFacts {
  const { isRegistered, since, why, missing, dropped } = story;
  return {
    segment: config.segment,
    line,
    profile: config.profile,
    state: !isRegistered ? "down" : device.isHere ? "up" : "degraded",
    since: since.toISOString(),
    why,
    tools: device.stub.tools().map(({ name }) => name),
    missing: [...missing],
    dropped,
  };
}
