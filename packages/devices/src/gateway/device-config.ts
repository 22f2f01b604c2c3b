// What the configuration says of a device, checked before anything is opened. [AX-8.3-1] [AX-8.3-4]
import type { Capability, TransportClass } from "@mcpx/protocol";
import { eventPayloadBytesMax, payloadBytesMax } from "../framing/frame-a.ts";
import { type Field, fieldTypesA, fieldTypesB } from "../tools/field.ts";
import { type Layout, widthOf } from "../tools/layout.ts";
import type { StatusPlace } from "../wire/framed-message.ts";

export interface ToolConfig {
  /** 1 to 255: the stub's own. */
  id: number;
  name: string;
  description?: string | undefined;
  arguments?: readonly Field[] | undefined;
  result?: readonly Field[] | undefined;
  /** Of profile A; `struct` unless given. */
  layout?: Layout | undefined;
  /** What it is to call it; what is not said is read as dangerous. A device is never asked. */
  capability?: Partial<Capability> | undefined;
  /** How long an answer may take; 1 000 unless given. */
  timeoutMs?: number | undefined;
  /** Words for the device's own statuses, 128 to 255. */
  statuses?: Readonly<Record<string, string>> | undefined;
}

/** What the device may say unasked. */
export interface EventConfig {
  /** 1 to 255: the stub's own. */
  id: number;
  name: string;
  /** Whether it is an alarm, which clients are told as a warning. */
  alarm?: boolean | undefined;
  fields?: readonly Field[] | undefined;
  /** Of profile A; `struct` unless given. */
  layout?: Layout | undefined;
}

export interface DeviceConfig {
  /** Its name in the tree. */
  segment: string;
  profile: "a" | "b";
  tools: readonly ToolConfig[];
  /** Events that are not named here are dropped and counted. */
  events?: readonly EventConfig[] | undefined;
  /** The width of its CRC, 16 unless given. 8 is for frames (profile A, `frame`), 0 (none) for `cbor`. */
  crc?: 0 | 8 | 16 | undefined;
  /** Of frames: the longest payload it takes; 8 in profile A and 124 in profile B unless given. */
  payloadMax?: number | undefined;
  /** Of frames: where an answer's status stands in its payload; `first` unless given. */
  status?: StatusPlace | undefined;
  /** Of profile B: its serial number in hexadecimal. Another device on the line is not listened to. */
  serial?: string | undefined;
  /**
   * Of profile B: `json` over MQTT, `packet` over lines that frame by themselves, `frame` in the frames of profile A, `cbor`
   * in COBS unless given.
   */
  encoding?: Encoding | undefined;
  /** Of profile B: what carries it, as the tree calls that. */
  transport?: TransportClass | undefined;
  /** How often a silent line is asked whether the device is there; 5 000 unless given. */
  heartbeatMs?: number | undefined;
}

export type Encoding = "cbor" | "packet" | "json" | "frame";

export class DeviceConfigError extends Error {}

const segmentLike = /^[a-z0-9_-]{1,63}$/;

export function checkDeviceConfig(config: DeviceConfig): void {
  const { segment, profile, encoding = "cbor", tools, payloadMax = 8, serial, heartbeatMs = 5_000 } = config;
  const isFramed = profile === "a" || encoding === "frame";
  const fail = (what: string): never => {
    throw new DeviceConfigError(`device ${JSON.stringify(segment)}: ${what}`);
  };
  if (!segmentLike.test(segment)) fail("its segment is 1 to 63 characters of a-z 0-9 _ -");
  if (profile === "a" && encoding !== "cbor" && encoding !== "frame")
    fail(
      "profile A is for lines of bytes (tcp, unix, serial); over one of packets or messages use profile B",
    );
  if (config.crc === 8 && !isFramed) fail("crc 8 is for frames; profile B has 16, or 0 for none");
  if (config.crc === 0 && (isFramed || encoding !== "cbor"))
    fail("crc 0 is for profile B in COBS; frames and packets have one");
  if (config.status !== undefined && !isFramed) fail("status is for frames; profile B answers in CBOR");
  if (!isWithin(payloadMax, 0, payloadBytesMax)) fail(`payloadMax is 0 to ${payloadBytesMax}`);
  if (!isWithin(heartbeatMs, 100, 3_600_000)) fail("heartbeatMs is 100 to 3 600 000");
  if (serial !== undefined && !/^(?:[0-9a-f]{2}){1,16}$/.test(serial))
    fail("its serial is 1 to 16 bytes in hexadecimal");
  const fault = faultOfList("tool", tools, faultOfTool, config);
  const eventFault = faultOfList("event", config.events ?? [], faultOfEvent, config);
  if (fault !== undefined) fail(fault);
  if (eventFault !== undefined) fail(eventFault);
}

/** Of tools or events: none has an id or a name twice, and each is what it may be. */
function faultOfList<Row extends { id: number; name: string }>(
  what: string,
  rows: readonly Row[],
  faultOfRow: (row: Row, config: DeviceConfig) => string | undefined,
  config: DeviceConfig,
): string | undefined {
  for (const key of ["id", "name"] as const) {
    const twice = rows.find((row, at) => rows.findIndex((other) => other[key] === row[key]) < at);
    if (twice !== undefined) return `two ${what}s have the ${key} ${twice[key]}`;
  }
  for (const row of rows) {
    const fault = faultOfName(row) ?? faultOfRow(row, config);
    if (fault !== undefined) return `${what} ${JSON.stringify(row.name)}: ${fault}`;
  }
  return undefined;
}

function faultOfName({ id, name }: { id: number; name: string }): string | undefined {
  if (!isWithin(id, 1, 255)) return "its id is 1 to 255";
  return segmentLike.test(name) ? undefined : "its name is 1 to 63 characters of a-z 0-9 _ -";
}

function isWithin(value: number | undefined, least: number, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
}

function faultOfTool(tool: ToolConfig, { profile, payloadMax = 8 }: DeviceConfig): string | undefined {
  const { layout, timeoutMs = 1 } = tool;
  if (!isWithin(timeoutMs, 1, 600_000)) return "timeoutMs is 1 to 600 000";
  return (
    faultOfPayload(tool.arguments, layout, profile, { name: "payloadMax", bytes: payloadMax }) ??
    faultOfPayload(tool.result, layout, profile, { name: "payloadMax", bytes: payloadMax })
  );
}

/** How long a payload may be, and what the bound is called. */
interface Most {
  name: string;
  bytes: number;
}

/** A stub sends it from memory of its own: `payloadMax` is what it takes. */
function faultOfEvent({ fields, layout }: EventConfig, { profile }: DeviceConfig): string | undefined {
  return faultOfPayload(fields, layout, profile, {
    name: "the bound of events",
    bytes: eventPayloadBytesMax,
  });
}

function faultOfPayload(
  fields: readonly Field[] = [],
  layout: Layout | undefined,
  profile: "a" | "b",
  most: Most,
): string | undefined {
  if (profile === "b") {
    return layout === undefined ? faultOfFields(fields, profile) : "layout is for profile A";
  }
  return faultOfFields(fields, profile) ?? faultOfLayout(fields, layout ?? "struct", most);
}

function faultOfFields(fields: readonly Field[], profile: "a" | "b"): string | undefined {
  const types = profile === "a" ? fieldTypesA : fieldTypesB;
  if (fields.length > 15) return "there are at most 15 fields";
  for (const { name, type, scale } of fields) {
    if (!/^[A-Za-z_]\w{0,62}$/.test(name) || name === "__proto__")
      return `${JSON.stringify(name)} is not a valid name of a field`;
    if (!types.includes(type))
      return `${name} has the type ${type}; in profile ${profile.toUpperCase()} there are ${types.join(", ")}`;
    if (fields.filter((other) => other.name === name).length > 1) return `two fields are called ${name}`;
    if (scale === 0) return `the scale of ${name} is 0`;
  }
  return undefined;
}

function faultOfLayout(fields: readonly Field[], layout: Layout, most: Most): string | undefined {
  if (layout === "raw") {
    const isRaw = fields.length === 0 || (fields.length === 1 && fields[0]?.type === "bytes");
    return isRaw ? undefined : "raw has one field, of the type bytes";
  }
  if (layout === "tlv") {
    const tags = fields.map(({ tag }) => tag);
    const isTagged = tags.every((tag) => isWithin(tag, 0, 255)) && new Set(tags).size === tags.length;
    return isTagged ? undefined : "in tlv every field has a tag of its own, 0 to 255";
  }
  const unsized = fields.find((field) => widthOf(field) === undefined);
  if (unsized !== undefined) return `${unsized.name} has no length`;
  const bytes = fields.reduce((total, field) => total + (widthOf(field) ?? 0), 0);
  return bytes > most.bytes ? `its fields are ${bytes} bytes, ${most.name} is ${most.bytes}` : undefined;
}
